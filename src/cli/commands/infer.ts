import type { Command } from 'commander'
import { isSourceUrl, readSourceUrl, shownSource } from '../../base/text/source-url.js'
import { remoteSecrets } from '../../base/secrets.js'
import { csvOptions } from '../settings/library-options.js'
import { addOptions } from '../terminal/help.js'
import { interruptible } from '../terminal/interrupt.js'
import { loadOptions, sayWarnings } from '../application/load-options.js'
import { plural } from '../terminal/columns.js'
import { checkStdin, stdinFor } from '../application/show-load.js'
import { tell } from '../terminal/log.js'
import { indented, shownInput, waysToLoad } from './look.js'
import { keepSecrets, type Terminal } from '../terminal/terminal.js'

export function defineInfer(command: Command, terminal: Terminal, done: (code: number) => void): void {
  addOptions(command.argument('<source...>', 'files, quoted globs, or - for stdin, as for sluice ingest'), 'infer')
    .addHelpText(
      'after',
      `
Examples:
  sluice infer orders.csv > orders.json
  sluice ingest orders.csv --index orders --infer-types --mapping orders.json

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
      for (const message of found.notes) tell(terminal, { level: 'warn', event: 'conflict', message })
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
      for (const input of inputs) terminal.out(`${shownInput(input).join('\n')}\n\n`)
      if (mapping.documents > 0)
        terminal.out(`Mapping\n\n${indented(JSON.stringify({ mappings: mapping.mappings }, null, 2))}\n\n`)
      // Only what can be read twice gets its mapping from the load.
      const infers = mapping.documents > 0 && !inputs.some(({ isDump }) => isDump)
      const isOnce = source.includes('-') || format === 'text'
      const isTable = inputs.some(({ found }) => found.startsWith('CSV'))
      const more = infers && !isOnce ? { mapping: 'infer' } : isOnce && isTable ? { inferTypes: true } : {}
      for (const line of waysToLoad(source.map(shownSource), flags, inputs, more)) terminal.out(`${line}\n`)
      done(inputs.some(({ rejected }) => rejected.length > 0) ? 1 : 0)
    })
}
