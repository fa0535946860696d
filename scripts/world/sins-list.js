// What `npm run search:world:sins` plants: a text of a source, which must be there exactly once, and the fault that replaces it.
export const sins = [
  {
    name: 'a mark is taken before its documents are settled',
    file: 'src/pipeline/ledger/committed-prefix.ts',
    from: 'this.#isBroken ||= !isFinal',
    to: 'void isFinal',
  },
  {
    name: 'a file is known by its name',
    file: 'src/run/state/inputs/recognise.ts',
    from: `const now = await this.#files.compare(known, file)
    if (now !== undefined) return asKnown(known, now, file)
    this.#there`,
    to: `const now = (await this.#files.compare(known, file)) ?? { ...known.input.file, stat: file.stat }
    if (now !== undefined) return asKnown(known, now, file)
    this.#there`,
  },
  {
    name: 'a rotated file is passed over',
    file: 'src/pipeline/source/generations.ts',
    from: 'return found.toSorted(',
    to: 'return found.slice(1).toSorted(',
  },
  {
    name: 'a document that was stored before its answer was lost is called rejected',
    file: 'src/route/sender/judge-answer.ts',
    from: `if (body.ownIds && body.resent) return 'duplicate'
  if`,
    to: `if (body.ownIds && body.resent) return 'refused'
  if`,
  },
  {
    name: 'the receipt counts what was sent as stored',
    file: 'src/pipeline/ledger/ledger.ts',
    from: 'this.#account.add(countsIn(outcome))',
    to: 'this.#account.add({ ...countsIn(outcome), created: batch.docs })',
  },
  {
    name: 'exit code 0 with dead letters',
    file: 'src/pipeline/ledger/receipt.ts',
    from: 'return rejected > 0 || unknown > 0 ? 1 : 0',
    to: 'return unknown > 0 ? 1 : 0',
  },
  {
    name: 'a witness is not looked up',
    file: 'src/run/state/resume/witnesses.ts',
    from: 'return witnesses.every(documents => documents.some(({ id }) => there.has(id)))',
    to: 'return true',
  },
  {
    name: 'a last line without a line end is lost',
    file: 'src/pipeline/bulk/frame-lines.ts',
    from: `if (!piece.broken) at.tail = { document: at.document, line: at.line, offset: at.offset }
          yield* framer.lines(piece.bytes, at)`,
    to: '',
  },
  {
    name: 'a resume begins one document later',
    file: 'src/pipeline/format/decode.ts',
    from: 'let left = count\n',
    to: 'let left = count > 0 ? count + 1 : 0\n',
  },
  {
    name: 'an update that changes nothing counts as created',
    file: 'src/route/sender/judge-answer.ts',
    from: '} else counts[outcome] += 1',
    to: "} else counts[outcome === 'noop' ? 'created' : outcome] += 1",
  },
  {
    name: 'a resume sends documents under new ids',
    file: 'src/run/state/resume/judge-input.ts',
    from: 'const { token, read } = input\n  const isPacked',
    to: "const { read } = input\n  const token = [...input.token].toReversed().join('')\n  const isPacked",
  },
  {
    name: 'a replay settles letters that it does not send',
    file: 'src/pipeline/bulk/replay-batcher.ts',
    from: 'this.#open.add(action, document, 0, document.length, at)',
    to: 'if (at.document === 1) this.#open.add(action, document, 0, document.length, at)\n        else this.#open.passBlank(1, at)',
  },
  {
    name: 'a rejected document is not written to the dead letters',
    file: 'src/pipeline/ledger/ledger.ts',
    from: 'await this.#deadLetters.append(rejected)',
    to: 'if (rejected.length > 1) await this.#deadLetters.append(rejected)',
  },
  {
    name: 'nobody reminds of rejected documents',
    file: 'src/run/state/resume/runs-into.ts',
    from: 'checkpoint.counts.rejected > 0 && !isForgotten ? [checkpoint] : []',
    to: 'checkpoint.counts.rejected > 1000 && !isForgotten ? [checkpoint] : []',
  },
  {
    name: 'a file that was compressed is a new one',
    file: 'src/run/state/inputs/content-index.ts',
    from: 'if (this.#byHead.size + this.#headless.size === 0) return []',
    to: 'return []',
  },
  {
    name: 'a receiver acknowledges what it does not store',
    file: 'src/programs/serve/take-post.ts',
    from: 'const stored = await intake.store({ bytes, documents, sha256, ...keyed })',
    to: "const stored = documents > 9 ? 'stored' : await intake.store({ bytes, documents, sha256, ...keyed })",
  },
  {
    name: 'the second document that a function returns is lost',
    file: 'src/features/transform/transform-document.ts',
    from: 'for (const one of results) {',
    to: 'for (const one of results.slice(0, 1)) {',
  },
  {
    name: 'documents that are skipped count as created',
    file: 'src/route/sender/judge-answer.ts',
    from: "if (body.onConflict === 'skip') return 'skipped'",
    to: "if (body.onConflict === 'skip') return 'created'",
  },
  {
    name: 'documents of deleted rows stay',
    file: 'src/features/tables/reconcile.ts',
    from: 'for (const id of ids) if (!rows.has(id)) comparison.note(id)',
    to: 'if (ids.length > 1000) comparison.note(ids[0] ?? [...rows][0])',
  },
  {
    name: 'undo deletes the first document only',
    file: 'src/programs/verify/undo.ts',
    from: `if (force || document.version === UNTOUCHED) ours.push(document)
      else this`,
    to: `if (ours.length === 0) ours.push(document)
      else if (document.version !== UNTOUCHED) this`,
  },
]
