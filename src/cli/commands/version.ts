import { createRequire } from 'node:module'
import type { Command } from 'commander'
import { columns } from '../show/columns.js'
import type { Terminal } from '../terminal/terminal.js'

export function defineVersion(command: Command, terminal: Terminal, done: (code: number) => void): void {
  command.option('--json', 'print JSON').action(({ json = false }: { readonly json?: boolean }) => {
    const versions = { sluice: terminal.manner.version ?? '', node: process.versions.node, client: clientVersion() }
    const rows = [
      ['sluice', versions.sluice],
      ['Node.js', versions.node],
      ['@elastic/elasticsearch', versions.client],
    ]
    terminal.out(json ? `${JSON.stringify(versions)}\n` : columns(rows))
    done(0)
  })
}

/** The client is a part of the command, in the version that the package names. */
function clientVersion(): string {
  const { dependencies } = createRequire(import.meta.url)('../../../package.json') as {
    readonly dependencies: Readonly<Record<string, string>>
  }
  return dependencies['@elastic/elasticsearch'] ?? ''
}
