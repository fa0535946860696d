import { type Command, InvalidArgumentError } from 'commander'
import { type LoggedIn, logIn } from '../../route/connect/open-servicenow.js'
import { addOptions } from '../terminal/help.js'
import { columns } from '../terminal/columns.js'
import { connectOptions } from '../settings/library-options.js'
import { interruptible, unlessInterrupted } from '../terminal/interrupt.js'
import { loadAccess, loadOptions, sayWarnings, serviceNowOptions } from '../application/load-options.js'
import { masked, withoutSecrets } from '../../base/secrets.js'
import { keepSecrets, type Terminal } from '../terminal/terminal.js'
import { shown } from '../../base/text/shown.js'
import { fail } from '../../base/failure/failure.js'
import { spawn } from 'node:child_process'
import { platform } from 'node:os'

interface Flags extends Record<string, unknown> {
  readonly port?: number
  /** Not negated: see `addOptions`. */
  readonly noBrowser?: boolean
}

/** Registered at the instance as part of the redirect URL, so it stays the same. */
const PORT = 8471

export function defineLogin(command: Command, terminal: Terminal, done: (code: number) => void): void {
  const options = addOptions(command, 'login')
    .argument('<where>', 'servicenow')
    .option('--port <port>', `port of the redirect URL (default: ${PORT})`, readPort)
  const noBrowser = options.createOption('--no-browser', 'print the URL instead of opening it')
  noBrowser.negate = false
  options
    .addOption(noBrowser)
    .addHelpText(
      'after',
      `
Examples:
  sluice login servicenow --servicenow-client-id 0123abcd
  sluice login servicenow --no-browser --port 9000

In the instance's application registry (System OAuth > Application Registry),
the entry of the client needs this redirect URL:
  http://127.0.0.1:${PORT}/callback
The browser connects to the instance directly. Sluice uses the proxy. It keeps
the tokens in a file that only you can read (--token-file). Other commands use
them with --servicenow-grant authorization_code.`,
    )
    .action(async (where: string, { port = PORT, noBrowser: isQuiet = false, ...flags }: Flags) => {
      const effective = await loadOptions(flags, terminal)
      if (where !== 'servicenow') {
        const problem = `'${where}' is unknown. Write sluice login servicenow`
        throw fail('OPTION_INVALID', { option: 'sluice login', problem })
      }
      const { values } = effective
      const asked = { ...effective, values: { ...values, servicenowGrant: 'authorization_code' as const } }
      const servicenow = await serviceNowOptions(asked, terminal)
      const access = await loadAccess(asked, terminal)
      sayWarnings(effective, terminal)
      using interruption = interruptible(terminal, 'stopping')
      const { signal } = interruption
      const logging = logIn({
        ...connectOptions(effective, access),
        servicenow,
        port,
        maxElapsedMs: values.maxElapsedMs,
        signal,
        open: (url, redirectUri) => {
          terminal.err(
            shown`Log in to the instance in your browser:\n\n  ${url}\n\nThe browser then returns to ${redirectUri}\n`,
          )
          if (!isQuiet && terminal.stdin.isTTY && terminal.stderr.isTTY) openBrowser(url, terminal)
        },
        onSecret: secret => keepSecrets(terminal, [secret]),
        onWarning: message => terminal.err(shown`warning: ${withoutSecrets(message, terminal.manner.secrets)}\n`),
      })
      const seen = await unlessInterrupted(signal, logging, () => 'Sluice stored no login')
      const loggedIn = masked(seen, terminal.manner.secrets)
      terminal.out(values.json ? `${JSON.stringify(loggedIn)}\n` : show(loggedIn))
      done(0)
    })
}

function readPort(text: string): number {
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && port > 0 && port < 65_536) return port
  throw new InvalidArgumentError('Pass a port from 1 to 65535.')
}

function show({ instance, tokenFile, isRenewable }: LoggedIn): string {
  const rows = [
    ['instance', instance],
    ['tokens', tokenFile],
    ['next', 'to use them, set SERVICENOW_GRANT=authorization_code for the other commands'],
  ]
  const note = ['note', 'the instance gave no refresh token. Log in again when the access token expires']
  return `Logged in\n\n${columns(isRenewable ? rows : [...rows, note], '  ')}`
}

/** Asks the system to open a page. If this fails, the user still has the printed address. */
function openBrowser(url: string, { env }: Pick<Terminal, 'env'>): void {
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
