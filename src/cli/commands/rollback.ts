import type { Command } from 'commander'
import type { RolledBack } from '../../index.js'
import { addOptions } from '../terminal/help.js'
import { interruptible, unlessInterrupted } from '../terminal/interrupt.js'
import { loadForCluster } from '../application/load-options.js'
import { plural } from '../terminal/columns.js'
import { shown } from '../../base/text/shown.js'
import type { Terminal } from '../terminal/terminal.js'

export function defineRollback(command: Command, terminal: Terminal, done: (code: number) => void): void {
  addOptions(command.argument('<alias>', 'alias of a guarded load (ingest --swap-alias)'), 'rollback')
    .option('--to <index>', 'index for the alias. Default: the index before the last load')
    .addHelpText(
      'after',
      `
Examples:
  sluice rollback products
  sluice rollback products --to products-20261121t100338z-225173

Sluice switches the alias in one step and keeps the index that it was on.`,
    )
    .action(async (alias: string, { to, ...flags }: Record<string, unknown>) => {
      const { values, connecting } = await loadForCluster(flags, terminal)
      using interruption = interruptible(terminal, 'stopping')
      const { rollback } = await import('../../features/guarded/rollback.js')
      const { signal } = interruption
      const switching = rollback({ ...connecting, signal, alias, ...(typeof to === 'string' ? { to } : {}) })
      const left = 'the alias may be switched already. Check its index, or name the index with --to'
      const switched = await unlessInterrupted(signal, switching, () => left)
      terminal.out(values.json ? `${JSON.stringify(switched)}\n` : show(switched))
      done(0)
    })
}

function show({ alias, from, to, documents }: RolledBack): string {
  return shown`The alias ${alias} is now on ${to}, with ${plural(documents, 'document')}.\nSluice kept the previous index, ${from}.\n`
}
