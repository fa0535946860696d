/** The documents, as a file of lines and in elasticdump's own form. Every one names a person: what of it is printed can be counted. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

export const DOCUMENTS = 20_000

const padding = 'lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut labore '

const plain = n =>
  `{"id":"order-${n}","n":${n},"customer":"Erika Mustermann ${n}","total":${(n * 37) % 9973},"note":"${padding.repeat(2)}"}`
const long = n => plain(n).replace('"total":', `"big":${1_000_000_000_000_000_000n + BigInt(n)},"total":`)
const large = n => (n === DOCUMENTS / 2 ? plain(n).replace('lorem', 'x'.repeat(1_200_000)) : plain(n))

const wrap = (line, n, ids) => `{${ids === 'field' ? `"_id":"order-${n}",` : ''}"_source":${line}`

/**
 * Writes both files of an input. `lines` are those that a loader has to bring: the document of number n is at n - 1.
 * `ids`: 'field' gives elasticdump the ids that others find in the documents.
 */
export function writeInput(kind, folder, ids) {
  const make = { long, large }[kind] ?? plain
  const lines = Array.from({ length: DOCUMENTS }, (_, at) => make(at + 1))
  const file = join(folder, 'input.ndjson')
  const dump = join(folder, 'input.dump')
  if (kind === 'untidy') {
    writeFileSync(
      file,
      untidy(lines, line => line),
    )
    writeFileSync(
      dump,
      untidy(lines, (line, n) => `${wrap(line, n, ids)}${line.endsWith('}') ? '}' : ''}`),
    )
  } else {
    const end = kind === 'unended' ? '' : '\n'
    writeFileSync(file, lines.join('\n') + end)
    writeFileSync(dump, lines.map((line, at) => `${wrap(line, at + 1, ids)}}`).join('\n') + end)
  }
  return { file, dump, lines, bytesEach: Math.ceil(lines[0].length) }
}

/** A byte order mark, CRLF, blank lines, and three lines that are no JSON. */
function untidy(lines, form) {
  const odd = { 5000: 'not json', 9000: '{"id":"order-0","n":', 15_000: '{"n":1}}' }
  const all = lines.flatMap((line, at) => [
    ...(at % 4000 === 100 ? [''] : []),
    ...(odd[at] === undefined ? [] : [form(odd[at], 0)]),
    form(line, at + 1),
  ])
  return `\uFEFF${all.join('\r\n')}\r\n`
}
