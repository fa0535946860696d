import type { Command } from 'commander'
import { isSluiceError } from '../../base/failure/failure.js'
import type { Tunnel } from '../../programs/tunnel/open-tunnel.js'
import { meterEntry, startTunnel } from '../application/open-tunnel.js'
import { startChild } from '../application/start-child.js'
import { knownFailure, stopOf } from '../show/say-error.js'
import { addOptions } from '../terminal/help.js'
import { openMeter } from '../terminal/meter.js'
import type { LogEntry, Terminal } from '../terminal/terminal.js'

/** Time to find out why a command may have failed. */
const CHECK_MS = 15_000

export function defineRun(command: Command, terminal: Terminal, done: (code: number) => void): void {
  addOptions(command, 'run')
    .argument('<command...>', 'command to run. Sluice ends with its exit code')
    .allowExcessArguments(true)
    .passThroughOptions()
    .addHelpText(
      'after',
      `
Examples:
  sluice run -- curl https://my-cluster.example:9243/
  sluice run --to api.example.com:443 -- python3 export.py
  sluice run --to 9200:cluster -- esbulk -server http://127.0.0.1:9200 a.ndjson

The command gets HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY. With them, its
connections go to Sluice, and through the static-IP proxy only to these targets.
The command does not get the password of the proxy. If a program does not read
these variables, put a port before the target, and give the program that port.`,
    )
    .action(async (words: string[], flags: Record<string, unknown>) => done(await run(words, flags, terminal)))
}

async function run(words: readonly string[], flags: Record<string, unknown>, terminal: Terminal): Promise<number> {
  // The command has stdout and stderr to itself: nothing is drawn.
  using meter = openMeter(terminal, true)
  const note = (entry: LogEntry): void => {
    if (entry.level !== 'info') meter.note(entry)
  }
  const started = await startTunnel(flags, terminal, { ports: 'asked', hasProxy: true }, { note })
  const { tunnel, effective, proxyUrl } = started
  try {
    const { childEnvironment } = await import('./child-environment.js')
    const code = await startChild(words, childEnvironment(terminal.env, tunnel, proxyUrl), terminal)
    const { quiet } = effective.values
    if (tunnel.callers === 0) {
      if (!quiet) meter.note(unused(words[0] ?? '', tunnel))
    } else if (code !== 0 && started.refusals() === 0) await tellCause(tunnel, terminal, meter.note)
    if (!quiet) meter.note(meterEntry(tunnel))
    return code
  } finally {
    await tunnel.close(AbortSignal.abort())
  }
}

/** Inside its own TLS, Sluice does not see what a command was answered. If it failed, access may have been lost. */
async function tellCause(tunnel: Tunnel, terminal: Terminal, note: (entry: LogEntry) => void): Promise<void> {
  const limit = AbortSignal.timeout(CHECK_MS)
  try {
    await tunnel.check(limit)
  } catch (error) {
    if (isSluiceError(error) && !limit.aborted) note(stopOf(knownFailure(terminal, error)))
  }
}

function unused(command: string, { opened }: Tunnel): LogEntry {
  const [first] = opened
  const port = first?.name === 'cluster' ? '9200:cluster' : `8080:${first?.name.toLowerCase()}`
  const message = `${command} opened no connection through Sluice. Some programs do not read HTTPS_PROXY. Add --to ${port}, and give the program the address 127.0.0.1:${port.split(':')[0]}`
  return { level: 'warn', event: 'unused', message }
}
