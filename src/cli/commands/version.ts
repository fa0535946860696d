import type { Command } from 'commander'
import { columns } from '../terminal/columns.js'
import type { Terminal } from '../terminal/terminal.js'

export function defineVersion(command: Command, terminal: Terminal, done: (code: number) => void): void {
  command.option('--json', 'print JSON').action(({ json = false }: { readonly json?: boolean }) => {
    const { version = '', clientVersion = '' } = terminal.manner
    const versions = { sluice: version, node: process.versions.node, client: clientVersion }
    const rows = [
      ['sluice', versions.sluice],
      ['Node.js', versions.node],
      ['@elastic/elasticsearch', versions.client],
    ]
    terminal.out(json ? `${JSON.stringify(versions)}\n` : columns(rows))
    done(0)
  })
}
