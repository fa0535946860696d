import type { Command } from 'commander'
import type { RolledBack } from '../../index.js'
import { requireOptions } from '../../options/resolve.js'
import { addOptions } from '../terminal/help.js'
import { connectOptions } from '../../options/library-options.js'
import { interrupted, interruptible } from '../terminal/interrupt.js'
import { loadAccess, loadOptions, sayWarnings } from '../load-options.js'
import { plural } from '../show/columns.js'
import type { Terminal } from '../terminal/terminal.js'

export function defineRollback(command: Command, terminal: Terminal, done: (code: number) => void): void {
  addOptions(command.argument('<alias>', 'alias of a guarded load (ingest --swap-alias)'), 'rollback')
    .option('--to <index>', 'index for the alias. Default: the one before the last load')
    .addHelpText(
      'after',
      `
Examples:
  sluice rollback products
  sluice rollback products --to products-20261121t100338z-225173

Sluice switches the alias in one step and keeps the index it was on.`,
    )
    .action(async (alias: string, { to, ...flags }: Record<string, unknown>) => {
      const effective = await loadOptions(flags, terminal)
      requireOptions(effective, ['url'])
      const access = await loadAccess(effective, terminal)
      sayWarnings(effective, terminal)
      using interruption = interruptible(terminal, 'stopping')
      const { rollback } = await import('../../guarded/rollback.js')
      const { signal } = interruption
      const way = { ...connectOptions(effective, access), signal }
      const switched = await rollback({ ...way, alias, ...(typeof to === 'string' ? { to } : {}) }).catch(
        (error: unknown) => {
          throw signal.aborted
            ? interrupted(signal, 'the alias may be switched already: check its index, or name the index with --to')
            : error
        },
      )
      terminal.out(effective.values.json ? `${JSON.stringify(switched)}\n` : show(switched))
      done(0)
    })
}

function show({ alias, from, to, documents }: RolledBack): string {
  return `The alias ${alias} is now on ${to}, with ${plural(documents, 'document')}.\nSluice kept the previous index, ${from}.\n`
}
