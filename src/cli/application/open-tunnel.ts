/** Opens a tunnel as the options of a command say, and reports on stderr what happens in it. */
import type { InstanceOptions } from '../../route/connect/open-servicenow.js'
import { explain, type Failure, fixesFor } from '../../base/failure/failure.js'
import { readDestination, type TunnelEnd } from '../../base/addresses.js'
import { connectOptions } from '../settings/library-options.js'
import { masked, withoutSecrets } from '../../base/secrets.js'
import { readTunnelToken } from '../settings/option-files.js'
import { type Effective, type OptionSources, requireOptions } from '../settings/resolve.js'
import type { Tunnel, TunnelOptions } from '../../programs/tunnel/open-tunnel.js'
import { loadForCluster, serviceNowOptions } from './load-options.js'
import { bytes, plural } from '../terminal/columns.js'
import { interruptible, unlessInterrupted } from '../terminal/interrupt.js'
import { keepSecrets, type LogEntry, type Terminal } from '../terminal/terminal.js'

interface Reporting {
  /** Prints a line of its own. */
  note(entry: LogEntry): void
}

interface StartedTunnel {
  readonly tunnel: Tunnel
  readonly effective: Effective
  /** The URL of the real proxy, with its credentials. */
  readonly proxyUrl: string | undefined
  /** Refusals so far. */
  readonly refusals: () => number
}

/** Throws SluiceError, also COMMAND_INTERRUPTED. */
export async function startTunnel(
  flags: OptionSources['flags'],
  terminal: Terminal,
  kind: Pick<TunnelOptions, 'ports' | 'hasProxy'>,
  { note }: Reporting,
): Promise<StartedTunnel> {
  const { effective, values, access, connecting } = await loadForCluster(flags, terminal, [])
  const destinations = destinationsOf(effective)
  const token = await readTunnelToken(effective)
  const needsInstance = destinations.some(({ to }) => to === 'servicenow')
  const instance: InstanceOptions | undefined = needsInstance
    ? {
        ...connectOptions(effective, access),
        servicenow: await serviceNowOptions(effective, terminal),
        maxElapsedMs: values.maxElapsedMs,
        onSecret: secret => keepSecrets(terminal, [secret]),
        onWarning: message => note({ level: 'warn', event: 'warning', message }),
      }
    : undefined
  using interruption = interruptible(terminal, 'stopping')
  const { signal } = interruption
  const { openTunnel } = await import('../../programs/tunnel/open-tunnel.js')
  const report = refusalReport(note)
  let refusals = 0
  const opening = openTunnel({
    ...kind,
    destinations,
    connecting,
    instance,
    withLogin: values.withLogin,
    token,
    idleMs: values.idleMs,
    signal,
    onRefusal: (name, known) => {
      const safe = masked(known, terminal.manner.secrets)
      refusals += 1
      report(name, safe)
      return safe
    },
    onForeign: foreignReport(address => note(foreign(withoutSecrets(address, terminal.manner.secrets)))),
  })
  const tunnel = await unlessInterrupted(signal, opening, () => 'Sluice opened no tunnel')
  keepSecrets(terminal, [tunnel.token])
  for (const { name, target, probes, notes } of tunnel.opened) {
    for (const message of notes) note({ level: 'info', event: 'note', message })
    const message = `reached ${name} (${target}): ${plural(probes, 'connection')} accepted`
    if (!values.quiet) note({ level: 'info', event: 'preflight', message, fields: { name, target, probes } })
  }
  return { tunnel, effective, proxyUrl: access.proxy?.url, refusals: () => refusals }
}

/** Without `--to`, all that is set. */
function destinationsOf(effective: Effective): readonly TunnelEnd[] {
  const { to, url, cloudId, servicenowUrl } = effective.values
  if (to !== undefined) return to.map(readDestination).filter(one => one !== undefined)
  const set: TunnelEnd[] = []
  if (url !== undefined || cloudId !== undefined) set.push({ to: 'cluster' })
  if (servicenowUrl !== undefined) set.push({ to: 'servicenow' })
  if (set.length === 0) requireOptions(effective, ['url'])
  return set
}

/** The same refusal is reported again after that time. */
const AGAIN_MS = 60_000

/** Tools repeat what fails. So each refusal is reported once a minute, with its fix. */
function refusalReport(note: Reporting['note']): (name: string, known: Failure) => void {
  const last = new Map<string, { at: number; more: number }>()
  return (name, { code, message }) => {
    const key = `${name} ${code}`
    const before = last.get(key)
    if (before !== undefined && performance.now() - before.at < AGAIN_MS) return void (before.more += 1)
    last.set(key, { at: performance.now(), more: 0 })
    const again = before === undefined || before.more === 0 ? '' : `. So did ${plural(before.more, 'more request')}`
    const fixes = fixesFor(code, message)
    const { exit, retry } = explain(code)
    const fields = { destination: name, code, exit, retry, fixes }
    const text = [`error: ${name}: ${message}${again}`, ...fixes.map(fix => `  fix:   ${fix}`)]
    text.push(`  more:  sluice explain ${code}`, '')
    note({ level: 'error', event: 'refused', message: `${name}: ${message}${again}`, fields, text: text.join('\n') })
  }
}

/** Most addresses that are named. */
const NAMED = 20

function foreignReport(tell: (address: string) => void): (address: string) => void {
  const seen = new Set<string>()
  return address => {
    if (seen.size >= NAMED || seen.has(address)) return
    seen.add(address)
    tell(address)
  }
}

function foreign(address: string): LogEntry {
  const message = `Sluice refused a connection to ${address}, which is not a target of this tunnel. To allow it, add --to ${address}`
  return { level: 'warn', event: 'foreign', message, fields: { address } }
}

/** How much went over the proxy so far, TLS and checks included. */
export function meterLine(tunnel: Tunnel): string {
  return Object.entries(tunnel.traffic())
    .map(([name, { connections, bytesSent, bytesReceived }]) => {
      const amounts = `${bytes(bytesSent)} sent, ${bytes(bytesReceived)} received`
      return `${name}: ${plural(connections, 'connection')}, ${amounts}`
    })
    .join(' · ')
}

export function meterEntry(tunnel: Tunnel): LogEntry {
  return { level: 'info', event: 'traffic', message: meterLine(tunnel), fields: { traffic: tunnel.traffic() } }
}
