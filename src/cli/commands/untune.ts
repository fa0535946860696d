import type { Command } from 'commander'
import type { Restored } from '../../index.js'
import { addOptions } from '../terminal/help.js'
import { interruptible, unlessInterrupted } from '../terminal/interrupt.js'
import { loadForCluster } from '../application/load-options.js'
import { showSettings } from '../../features/tuned/untune.js'
import { shown } from '../../base/text/shown.js'
import type { Terminal } from '../terminal/terminal.js'

export function defineUntune(command: Command, terminal: Terminal, done: (code: number) => void): void {
  addOptions(command.argument('<index>', 'index, alias or data stream of a load (ingest --tune)'), 'untune')
    .addHelpText(
      'after',
      `
Example:
  sluice untune orders

The next load restores the settings too. A load that is still running continues.`,
    )
    .action(async (index: string, flags: Record<string, unknown>) => {
      const { values, connecting } = await loadForCluster(flags, terminal)
      using interruption = interruptible(terminal, 'stopping')
      const { restoreSettings } = await import('../../features/tuned/untune.js')
      const { signal } = interruption
      const left = 'some settings may be restored already. Run it again'
      const all = await unlessInterrupted(signal, restoreSettings({ ...connecting, signal, index }), () => left)
      terminal.out(values.json ? `${JSON.stringify({ restored: all })}\n` : show(index, all))
      done(0)
    })
}

function show(index: string, all: readonly Restored[]): string {
  if (all.length === 0) return shown`No load has tuned ${index}. Sluice changed nothing.\n`
  const lines = all.map(({ index: name, settings, runs }) => {
    const isDone = Object.keys(settings).length > 0
    const what = isDone ? `Sluice restored ${showSettings(settings)}` : 'Its settings were already restored'
    return shown`${name}: tuned by run ${runs.join(', ') || 'unknown'}. ${what}.\n`
  })
  return lines.join('')
}
