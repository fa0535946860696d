import type { Command } from 'commander'
import type { InferredMapping } from '../../index.js'
import { isSourceUrl, readSourceUrl, shownSource } from '../../base/text/source-url.js'
import { remoteSecrets } from '../../base/secrets.js'
import { csvOptions } from '../settings/library-options.js'
import { addOptions } from '../terminal/help.js'
import { interruptible } from '../terminal/interrupt.js'
import { loadOptions, sayWarnings } from '../application/load-options.js'
import { count, plural } from '../terminal/columns.js'
import { checkStdin, stdinFor } from '../application/show-load.js'
import { tell } from '../terminal/log.js'
import { commandFor, indented, shown } from './look.js'
import { keepSecrets, type Terminal } from '../terminal/terminal.js'

export function defineInfer(command: Command, terminal: Terminal, done: (code: number) => void): void {
  addOptions(command.argument('<source...>', 'files, quoted globs, or - for stdin, as for sluice ingest'), 'infer')
    .addHelpText(
      'after',
      `
Examples:
  sluice infer orders.csv > orders.json
  sluice ingest orders.csv --index orders --mapping orders.json

The mapping goes to stdout. Fields that no type fits go to stderr.`,
    )
    .action(async (source: string[], flags: Record<string, unknown>) => {
      const effective = await loadOptions(flags, terminal)
      sayWarnings(effective, terminal)
      checkStdin(source)
      const { format, pick, members, sheet, sample } = effective.values
      using interruption = interruptible(terminal, 'stopping')
      const { inferMapping } = await import('../../features/mapping/infer-mapping.js')
      const { signal } = interruption
      const csv = csvOptions(effective)
      const found = await inferMapping({
        source,
        ...stdinFor(source, terminal),
        format,
        pick,
        members,
        sheet,
        csv,
        sample,
        signal,
      })
      terminal.out(`${JSON.stringify({ mappings: found.mappings }, null, 2)}\n`)
      for (const message of notesOn(found)) tell(terminal, { level: 'warn', event: 'conflict', message })
      const message = `read ${plural(found.documents, 'document')} of ${plural(found.inputs, 'input')}`
      tell(terminal, { level: 'info', event: 'sample', message })
      done(0)
    })
}

export function defineLook(command: Command, terminal: Terminal, done: (code: number) => void): void {
  addOptions(
    command.argument('<source...>', 'files, quoted globs, URLs, or - for stdin, as for sluice ingest'),
    'infer',
  )
    .addHelpText(
      'after',
      `
Examples:
  sluice look orders.csv
  sluice look orders.csv --types total:double
  curl -s https://example.com/events | sluice look -

Nothing is sent, and no cluster is needed. The exit code is 1 if a load would reject documents.`,
    )
    .action(async (source: string[], flags: Record<string, unknown>) => {
      const effective = await loadOptions(flags, terminal)
      sayWarnings(effective, terminal)
      checkStdin(source)
      keepSecrets(terminal, remoteSecrets(source.filter(isSourceUrl).flatMap(name => readSourceUrl(name) ?? [])))
      const { format, pick, members, sheet, sample } = effective.values
      using interruption = interruptible(terminal, 'stopping')
      const { lookAtInputs } = await import('../../ingest.js')
      const { signal } = interruption
      const { inputs, mapping } = await lookAtInputs({
        source,
        ...stdinFor(source, terminal),
        format,
        pick,
        members,
        sheet,
        csv: csvOptions(effective),
        sample,
        signal,
      })
      for (const input of inputs) terminal.out(`${shown(input).join('\n')}\n\n`)
      if (mapping.documents > 0)
        terminal.out(`Mapping\n\n${indented(JSON.stringify({ mappings: mapping.mappings }, null, 2))}\n\n`)
      terminal.out(
        `To load ${inputs.length === 1 ? 'it' : 'them'}\n\n  ${commandFor(source.map(shownSource), flags)}\n`,
      )
      done(inputs.some(({ rejected }) => rejected.length > 0) ? 1 : 0)
    })
}

/** Fields that are named. */
const NAMED = 20

function* notesOn({ conflicts, empty, unreadable, isCut, documents }: InferredMapping): Generator<string> {
  for (const { field, kinds, proposed, takesAll } of conflicts) {
    const seen = kinds.map(
      ({ kind, documents: many, first }) =>
        `${kind} in ${plural(many, 'document')} (${share(many, documents)}), first at ${first}`,
    )
    const what = takesAll
      ? `The mapping has ${proposed}, which takes all of them`
      : `No type takes all of them. The mapping has ${proposed}`
    yield `${field}: ${seen.join('; ')}. ${what}`.replaceAll(';', ',')
  }
  if (empty.length > 0) {
    const more = empty.length > NAMED ? ` and ${empty.length - NAMED} more` : ''
    yield `always null or empty, so without a type: ${empty.slice(0, NAMED).join(', ')}${more}`
  }
  if (unreadable.lines > 0)
    yield `${plural(unreadable.lines, 'line')} ${unreadable.lines === 1 ? 'is not a JSON object' : 'are not JSON objects'}, first at ${unreadable.first}`
  if (isCut) yield `the documents have more than ${count(10_000)} fields. The others are not in the mapping`
}

function share(part: number, all: number): string {
  return `${((100 * part) / Math.max(1, all)).toFixed(1)}%`
}
