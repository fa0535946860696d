import type { Command } from 'commander'
import type { Filter, FilterOptions } from '../../programs/filter/filter.js'
import type { Settings } from '../../options/describe-option.js'
import type { Needed } from '../settings/resolve.js'
import { addOptions } from '../terminal/help.js'
import { confirm } from '../terminal/confirm.js'
import { readAdminKey, refuseUnseenAddresses } from '../settings/option-files.js'
import { interruptible, unlessInterrupted } from '../terminal/interrupt.js'
import { loadForCluster } from '../application/load-options.js'
import { knownSecrets, masked } from '../../base/secrets.js'
import { keepSecrets, type Terminal } from '../terminal/terminal.js'
import { filterExitCode, filterJson, showFilter } from '../application/show-filter.js'
import { visible } from '../../base/text/shown.js'

interface Flags extends Record<string, unknown> {
  readonly yes?: boolean
}

type TaskName = Exclude<keyof Filter, symbol>

type Confirm = FilterOptions['confirm']

export function defineFilter(command: Command, terminal: Terminal, done: (code: number) => void): void {
  const task = (name: TaskName, summary: string, needs: readonly Needed[], examples: string) =>
    addOptions(command.command(name).description(summary).allowExcessArguments(false), 'filter')
      .addHelpText('after', `\nExamples:\n${examples}`)
      .action(async (flags: Flags) => done(await run(name, needs, flags, terminal)))

  task(
    'show',
    'show the policies of a deployment, and check that they allow only your two addresses',
    ['deployment'],
    '  sluice filter show --deployment 0a1b2c\n  sluice filter show --json | jq .findings[].code',
  )
  task(
    'create',
    'create a policy with the two static addresses, or add them to an existing policy',
    ['staticIps'],
    '  sluice filter create --deployment 0a1b2c\n  sluice filter create --project 0a1b2c --policy loaders',
  ).option('--yes', 'answer all questions with yes')
  task(
    'attach',
    'attach a policy to a deployment and test the result',
    ['deployment'],
    '  sluice filter attach --deployment 0a1b2c\n  sluice filter attach --deployment 0a1b2c --policy loaders',
  ).option('--yes', 'attach without asking, even if this blocks a static address')
  task(
    'detach',
    'detach a policy from a deployment and test the result',
    ['deployment'],
    '  sluice filter detach --deployment 0a1b2c --policy everyone',
  ).option('--yes', 'detach without asking, even the last policy, which opens the deployment to the internet')
  command.addHelpText(
    'after',
    `
Examples:
  sluice filter create && sluice filter attach  allow only the two addresses
  sluice lab -- sluice filter show              see an example
  sluice filter show --help                     show its options

Sluice connects directly to the Elastic Cloud API, with an API key of the
organisation (EC_API_KEY).`,
  )
}

async function run(
  name: TaskName,
  needs: readonly Needed[],
  { yes = false, ...flags }: Flags,
  terminal: Terminal,
): Promise<number> {
  const { effective, values, connecting } = await loadForCluster(flags, terminal, needs)
  if (name === 'create') refuseUnseenAddresses(effective)
  const key = await readAdminKey(effective)
  keepSecrets(terminal, knownSecrets({ apiKey: key }))
  using interruption = interruptible(terminal, 'stopping')
  const { signal } = interruption
  const { openFilter } = await import('../../programs/filter/filter.js')
  const timeoutMs = Math.min(values.timeoutMs, 30_000)
  await using filter = openFilter({
    admin: { url: new URL(values.adminUrl), key, timeoutMs, signal, projectType: projectTypeOf(values) },
    values,
    way: { ...connecting, signal },
    timeoutMs,
    confirm: asking(yes, terminal, signal),
  })
  const report = await unlessInterrupted(signal, filter[name](), () => whatIsLeft[name])
  const safe = masked(report, terminal.manner.secrets)
  terminal.out(values.json ? filterJson(safe) : showFilter(safe))
  return filterExitCode(safe)
}

/** Returns which kind of administration is meant. Undefined: that of hosted deployments. */
export function projectTypeOf({ project, projectType }: Settings): FilterOptions['admin']['projectType'] {
  return project === undefined ? undefined : projectType
}

const mayBeDone = 'the change may be done already. To check, run `sluice filter show`'
const whatIsLeft: Readonly<Record<TaskName, string>> = {
  show: 'Sluice changed nothing',
  create: 'the policy may exist already. If so, the same command uses it',
  attach: mayBeDone,
  detach: mayBeDone,
}

/** Shows what would change, also if no question follows. */
function asking(yes: boolean, terminal: Terminal, signal: AbortSignal): Confirm {
  return async change => {
    const { what, difference, consequence }: Parameters<Confirm>[0] = masked(change, terminal.manner.secrets)
    terminal.err([`To ${what}:`, ...difference.map(line => `  ${line}`), `${consequence}.`, ''].map(visible).join('\n'))
    return yes || (await confirm(terminal, 'Continue?', signal))
  }
}
