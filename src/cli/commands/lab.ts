import { type Command, Option } from 'commander'
import { type Lab, type LabOptions, type Register, registers, startLab } from '../../lab/index.js'
import { columns } from '../terminal/columns.js'
import { startChild } from '../application/start-child.js'
import { interruptible } from '../terminal/interrupt.js'
import { shown } from '../../base/text/shown.js'
import type { Terminal } from '../terminal/terminal.js'
import { fail } from '../../base/failure/failure.js'

/** Several pages with --page-size 100. */
const INCIDENTS = 250
/** In the index `orders` of the other cluster. */
const ORDERS = 1000

interface Flags {
  readonly register: Register
  readonly ports: 'random' | 'contract'
  readonly json: boolean
  readonly console: boolean
  readonly clusters: '1' | '2'
}

export function defineLab(command: Command, terminal: Terminal, done: (code: number) => void): void {
  command
    .argument('[command...]', 'command to run on the lab. Sluice ends with its exit code')
    .allowExcessArguments(true)
    .passThroughOptions()
    .addOption(
      new Option('--register <which>', 'addresses that the IP filter and ServiceNow allow (default: both)').choices(
        registers,
      ),
    )
    .addOption(
      new Option(
        '--ports <how>',
        'random ports, or contract: the usual ports of QuotaGuard (9293, 1080, …) (default: random)',
      ).choices(['random', 'contract']),
    )
    .addOption(
      new Option('--clusters <n>', '2 adds another cluster, with an index to move (default: 1)').choices(['1', '2']),
    )
    .option('--console', 'serve a web page that shows and changes the lab, on this machine only')
    .option('--json', 'print one line of JSON with every address and credential when the lab is ready')
    .addHelpText(
      'after',
      `
Examples:
  sluice lab                                    run until Ctrl-C
  sluice lab --console                          see and change the lab
  sluice lab -- sluice ingest my.ndjson --index logs
  sluice lab --register first -- sluice doctor  see a blocked address
  sluice lab --clusters 2                       move an index to another cluster`,
    )
    .action(async (words: string[], flags: Partial<Flags>) => {
      const { register = 'both', ports = 'random', json = false, console = false } = flags
      const lab = await start({ register, ports, console, clusters: flags.clusters === '2' ? 2 : 1 })
      try {
        if (words.length > 0 && lab.line.console !== undefined)
          terminal.err(shown`console: ${lab.line.console}
`)
        done(
          words.length === 0
            ? await runUntilStopped(lab, json, terminal)
            : await startChild(words, { ...terminal.env, ...lab.env }, terminal),
        )
      } finally {
        await lab.close()
      }
    })
}

async function start(options: LabOptions): Promise<Lab> {
  try {
    const lab = await startLab(options)
    lab.control.servicenow.seed('incident', INCIDENTS)
    if (lab.line.otherCluster !== undefined) lab.control.store('orders', orders(), ORDER_FIELDS)
    return lab
  } catch (error) {
    const { code, port } = error as NodeJS.ErrnoException & { port?: number }
    if (code !== 'EADDRINUSE') throw error
    const problem = `port ${port} is in use by another program. Stop it, or use random ports`
    throw fail('OPTION_INVALID', { option: '--ports contract', problem }, { cause: error })
  }
}

const ORDER_FIELDS = { properties: { order: { type: 'long' }, total: { type: 'double' }, open: { type: 'boolean' } } }

/** Integers of 19 digits show that no digit is lost. */
function orders(): Map<string, string> {
  const text = (n: number) =>
    `{"order":9007199254740${String(n).padStart(6, '0')},"total":${n % 90}.50,"open":${n % 7 > 0}}`
  return new Map(Array.from({ length: ORDERS }, (_, n) => [`order-${n + 1}`, text(n + 1)]))
}

async function runUntilStopped(lab: Lab, json: boolean, terminal: Terminal): Promise<number> {
  using interruption = interruptible(terminal, 'stopping the lab')
  terminal.out(json ? `${JSON.stringify(lab.line)}\n` : summary(lab))
  if (!interruption.signal.aborted) {
    // The servers keep the process alive until then.
    await new Promise(resolve => interruption.signal.addEventListener('abort', resolve, { once: true }))
  }
  return 0
}

/** Returns the settings for using the lab from another terminal. Its credentials are made up for this run. */
function summary({ line, env }: Lab): string {
  return [
    'The lab is ready: a static-IP proxy with two addresses, a search cluster behind its\n',
    'IP filter, and a ServiceNow instance behind its access control. Both allow only these two addresses.\n\n',
    columns(
      [
        ['proxy', line.proxy.http],
        ['', line.proxy.https],
        ['', line.proxy.socks5],
        ['', line.proxy.socks5s],
        ['addresses', line.staticIps.join(', ')],
        ['cluster', line.cluster.url],
        ['', line.cluster.httpUrl],
        ...(line.otherCluster === undefined
          ? []
          : [
              ['other cluster', line.otherCluster.url],
              ['', line.otherCluster.httpUrl],
            ]),
        ['ServiceNow', line.servicenow.url],
        ['', line.servicenow.httpUrl],
        ['CA', line.cluster.caFile],
        ['inbound', line.inbound.url],
        ...(line.console === undefined ? [] : [['console', line.console]]),
      ],
      '  ',
    ),
    line.egress === 'virtual' ? virtual : '',
    '\nIn another terminal:\n\n',
    ...Object.entries(env).map(([name, value]) => `  export ${name}='${value.replaceAll("'", `'\\''`)}'\n`),
    '\nCtrl-C stops it.\n',
  ].join('')
}

const virtual =
  "\nThis machine cannot bind 127.0.0.2 and 127.0.0.3. The lab's own servers still see the static addresses, but other servers see\n127.0.0.1. On macOS, run: sudo ifconfig lo0 alias 127.0.0.2 up, and the same for 127.0.0.3.\n"
