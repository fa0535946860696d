import type { Command } from 'commander'
import type { FilterOptions } from '../../programs/filter/filter.js'
import { isObject } from '../../base/json/parse-json.js'
import { invalid } from '../../options/option-checks.js'
import { resolveOptions } from '../settings/resolve.js'
import { shown, visible } from '../../base/text/shown.js'
import { compareFiles, configOf, filesOf, type ProjectFile, writeFiles } from './init/project-files.js'
import { registering } from './init/register.js'
import type { AskLine } from './init/questions.js'
import { type Dialog, resolved, setUp } from './init/set-up.js'
import { loadAccess, readConfigFile } from '../application/load-options.js'
import { askForLine } from '../terminal/ask.js'
import { addOptions } from '../terminal/help.js'
import { interruptible, unlessInterrupted } from '../terminal/interrupt.js'
import type { Terminal } from '../terminal/terminal.js'

interface Flags extends Record<string, unknown> {
  readonly force?: boolean
  readonly yes?: boolean
}

const left = 'Sluice wrote no file'

export function defineInit(command: Command, terminal: Terminal, done: (code: number) => void): void {
  addOptions(command, 'init')
    .option('--force', 'replace files that exist, without asking')
    .option('--yes', 'if the IP filter refuses the static addresses, register them without asking')
    .addHelpText(
      'after',
      `
Examples:
  sluice init                                              ask for everything
  sluice init --url https://my.es.example:9243 --index logs-app

Sluice asks for what is missing: proxy, cluster, credentials, first index. It
checks each answer, then writes sluice.config.json and the secrets, each in a
file in .sluice that only you can read. Without a terminal it asks nothing.`,
    )
    .action(async ({ force = false, yes = false, ...flags }: Flags) => {
      using interruption = interruptible(terminal, 'stopping')
      const { signal } = interruption
      const isAsking = terminal.stdin.isTTY && terminal.stderr.isTTY === true
      const line = async (question: string, isHidden = false) =>
        (await askForLine(terminal, question, { isHidden, signal, left })).trim()
      const confirm: FilterOptions['confirm'] = async change => {
        const { what, difference, consequence } = change
        const lines = [`To ${what}:`, ...difference.map(one => `  ${one}`), `${consequence}.`, '']
        terminal.err(lines.map(visible).join('\n'))
        return yes || (isAsking ? await isYes(line, 'Continue?') : undefined)
      }
      const register = isAsking || yes ? registering(confirm, yes) : async () => await Promise.resolve(false as const)
      const dialog = { terminal, flags, signal, line: isAsking ? line : undefined, register }
      done(await unlessInterrupted(signal, initialise(dialog, force), () => left))
    })
}

async function isYes(line: AskLine, question: string): Promise<boolean> {
  return /^y(es)?$/i.test(await line(`${question} [y/N]`))
}

async function initialise(dialog: Dialog, isForced: boolean): Promise<number> {
  const { terminal, flags, line, signal } = dialog
  const file = await readConfigFile(flags, terminal, true)
  const answers = await setUp(dialog)
  const effective = await resolved(dialog, answers)
  const config = configOf(effective, isObject(file.values) ? file.values : {})
  const files = filesOf(file.path, config, effective, await loadAccess(effective, terminal))
  const { changed, existing, replaced } = await compareFiles(files)
  if (replaced.length > 0 && !isForced) {
    const names = replaced.map(({ path }) => path).join(' and ')
    if (line === undefined) throw invalid(names, 'exists with other contents. To replace it, pass --force')
    if (!(await isYes(line, `${names} exists with other contents. Replace it?`)))
      throw invalid(names, `already exists, and you chose to keep it. ${left}`)
  }
  signal.throwIfAborted()
  const next = firstLoad(file, config, effective.values.index, terminal)
  await writeFiles(changed, existing)
  const { json } = effective.values
  const paths = files.map(({ path }) => path)
  terminal.out(json ? `${JSON.stringify({ ok: true, files: paths, next })}\n` : showWritten(files, changed, next))
  return 0
}

/** Returns the command of the first load. It names the file if a load would not trust it otherwise. */
function firstLoad(
  { path, isNamed }: { readonly path: string; readonly isNamed: boolean },
  config: object,
  index: string | undefined,
  { env }: Terminal,
): string {
  // Addresses matter only where they are let through.
  const {
    unsafe: { allowed: _, ...unsafe },
  } = resolveOptions({ flags: {}, env, file: { path, values: config, isNamed: false } })
  const isTrusted = (isNamed && env['SLUICE_CONFIG'] === path) || (!isNamed && Object.keys(unsafe).length === 0)
  const named = isTrusted ? '' : ` --config ${quoted(path)}`
  return `sluice ingest FILE --index ${quoted(index ?? 'INDEX')}${named}`
}

function quoted(word: string): string {
  return /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

function showWritten(files: readonly ProjectFile[], changed: readonly ProjectFile[], next: string): string {
  const rows = files
    .filter(({ path }) => !path.endsWith('.gitignore'))
    .map(file => {
      const what = changed.includes(file) ? 'written' : 'unchanged'
      return shown`${what}: ${file.path}${file.isSecret ? ' (only you can read it, and git ignores it)' : ''}\n`
    })
  return [...rows, shown`\nLoad your first file:\n\n  ${next}\n`].join('')
}
