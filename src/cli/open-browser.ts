import { spawn } from 'node:child_process'
import { platform } from 'node:os'
import type { Terminal } from './terminal.js'

/** Asks the system to open a page. Where it cannot, the address that was printed is all there is. */
export function openBrowser(url: string, { env }: Pick<Terminal, 'env'>): void {
  const [command, ...args] = commandFor(url)
  const child = spawn(command, args, { stdio: 'ignore', detached: true, env: { ...env } })
  child.on('error', () => {})
  child.unref()
}

function commandFor(url: string): [string, ...string[]] {
  switch (platform()) {
    case 'darwin':
      return ['open', url]
    case 'win32':
      // A shell would take an ampersand of the URL for the end of its command.
      return ['rundll32', 'url.dll,FileProtocolHandler', url]
    default:
      return ['xdg-open', url]
  }
}
