import type { Command } from 'commander'
import type { Tunnel } from '../../programs/tunnel/open-tunnel.js'
import { meterEntry, meterLine, startTunnel } from '../application/open-tunnel.js'
import { columns } from '../terminal/columns.js'
import { addOptions } from '../terminal/help.js'
import { interruptible } from '../terminal/interrupt.js'
import { openMeter } from '../terminal/meter.js'
import type { Terminal } from '../terminal/terminal.js'

export function defineTunnel(command: Command, terminal: Terminal, done: (code: number) => void): void {
  addOptions(command, 'tunnel')
    .addHelpText(
      'after',
      `
Examples:
  sluice tunnel                       then: curl http://127.0.0.1:9200/
  sluice tunnel --to 9201:cluster --to servicenow
  sluice tunnel --to 5433:db.example.com:5432
                                      then: psql -h 127.0.0.1 -p 5433

Sluice opens ports on this machine that lead through the proxy to these targets
only. The cluster gets port 9200, and every other target gets a free port.
Sluice encrypts the connection to cluster and ServiceNow, so tools use http. For
tools that support proxies, use sluice run -- COMMAND.`,
    )
    .action(async (flags: Record<string, unknown>) => done(await open(flags, terminal)))
}

async function open(flags: Record<string, unknown>, terminal: Terminal): Promise<number> {
  using meter = openMeter(terminal, flags['quiet'] === true)
  const { tunnel, effective } = await startTunnel(flags, terminal, { ports: 'all', hasProxy: false }, meter)
  const { values } = effective
  using interruption = interruptible(terminal, 'accepting no more connections, waiting for the open ones')
  const { signal } = interruption
  const isOwnToken = values.tunnelToken !== undefined || values.tunnelTokenFile !== undefined
  const token = values.withLogin && !isOwnToken ? tunnel.token : undefined
  terminal.out(values.json ? tunnelJson(tunnel, token) : showTunnel(tunnel, token))
  meter.show(() => meterLine(tunnel))
  if (!signal.aborted) await new Promise(resolve => signal.addEventListener('abort', resolve, { once: true }))
  await tunnel.close(AbortSignal.timeout(values.graceMs))
  if (!values.quiet) meter.note(meterEntry(tunnel))
  return 0
}

function tunnelJson({ opened }: Tunnel, token: string | undefined): string {
  const tunnels = opened.map(({ notes: _, ...one }) => one)
  return `${JSON.stringify({ tunnels, ...(token === undefined ? {} : { token }) })}\n`
}

function showTunnel({ opened }: Tunnel, token: string | undefined): string {
  const rows = opened.map(({ name, target, local = '' }) => [name, local, `leads to ${target}`])
  const login =
    token === undefined
      ? ''
      : `\nRequests need this token, as a bearer token or as the password of any user:\n  ${token}\n`
  return `${columns(rows)}${login}`
}
