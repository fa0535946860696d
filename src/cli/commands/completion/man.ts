import type { DescribedOption } from '../../../options/describe-option.js'
import type { CommandNode, FlagNode } from './command-tree.js'

interface ManPage {
  readonly version: string
  readonly tree: readonly CommandNode[]
  /** The options that several commands take, in the order of help. */
  readonly options: readonly DescribedOption[]
}

/** Returns the man page of sluice, for man and groff. */
export function manPage({ version, tree, options }: ManPage): string {
  const shared = new Set(options.flatMap(({ flag }) => flag ?? []))
  const groups = [...new Set(options.map(({ group }) => group))]
  return `${[
    `.TH SLUICE 1 "" "sluice ${version}" "User Commands"`,
    '.SH NAME',
    text('sluice - load files, streams and ServiceNow tables into Elasticsearch through a static-IP proxy'),
    '.SH SYNOPSIS',
    '.B sluice',
    '.I command',
    '[argument...] [option...]',
    '.SH DESCRIPTION',
    text(
      'Sluice loads files, streams and ServiceNow tables into Elasticsearch (Elastic Cloud with an IP filter) through a static-IP proxy such as QuotaGuard or Fixie, and accounts for every document.',
    ),
    '.SH COMMANDS',
    ...tree.flatMap(({ name, summary }) => ['.TP', `.B ${escape(name)}`, text(`${capital(summary)}.`)]),
    '.SH OPTIONS',
    text(
      'Most options can also be set in the environment, as SLUICE_ and the name of the flag in capitals, or in the file sluice.config.json.',
    ),
    ...groups.flatMap(group => [
      `.SS ${escape(group)}`,
      ...options.filter(one => one.group === group).flatMap(optionLines),
    ]),
    '.SH OPTIONS OF SINGLE COMMANDS',
    ...tree.flatMap(command => ownLines(command, shared)),
    '.SH EXIT STATUS',
    ...exits.flatMap(([code, meaning]) => ['.TP', `.B ${code}`, text(meaning)]),
    '.SH FILES',
    '.TP',
    '.I ~/.local/state/sluice',
    text(
      'The state folder: checkpoints, locks, learnt limits and the list of runs. Also $XDG_STATE_HOME/sluice, or --state-dir.',
    ),
    '.TP',
    '.I sluice.config.json',
    text('Settings of the commands that run in this folder.'),
    '.SH EXAMPLES',
    '.nf',
    ...["sluice ingest 'logs/*.ndjson.gz' --index logs-app", 'sluice doctor', 'sluice runs'].map(escape),
    '.fi',
  ].join('\n')}\n`
}

const exits = [
  [0, 'Every document is stored.'],
  [1, 'Some documents were rejected, or their outcome is unknown.'],
  [2, 'An option or an input is wrong.'],
  [3, 'You must change the access, the configuration or an input.'],
  [4, 'The same command may succeed later.'],
  [5, 'The run was interrupted. The same command continues.'],
  [6, 'Another run has the lock.'],
  [70, 'A bug, or a good result could not be written to stdout.'],
] as const

function optionLines({ flag, short, label, doc, default: preset, env, commands }: DescribedOption): string[] {
  if (flag === undefined) return []
  const names = [short, flag].filter(name => name !== undefined)
  const notes = [
    ...(preset === undefined || label === undefined ? [] : [`Default: ${preset}.`]),
    ...(env.length < 2 ? [] : [`Environment: ${env.slice(1).join(', ')}.`]),
    `Commands: ${commands.filter(command => command !== 'config').join(', ')}.`,
  ]
  return [...termLines(names, label), text(`${capital(doc)}${/[.!?]$/.test(doc) ? '' : '.'} ${notes.join(' ')}`)]
}

function ownLines({ name, flags }: CommandNode, shared: ReadonlySet<string>): string[] {
  const own = flags.filter(
    ({ names }) => !names.some(one => shared.has(one) || one === '--help' || one === '--help-all'),
  )
  return own.length === 0 ? [] : [`.SS ${escape(name)}`, ...own.flatMap(flagLines)]
}

function flagLines({ names, label, doc }: FlagNode): string[] {
  return [...termLines(names, label), text(`${capital(doc)}.`)]
}

function termLines(names: readonly string[], label: string | undefined): string[] {
  const bold = names.map(name => `\\fB${escape(name)}\\fR`).join(', ')
  return ['.TP', label === undefined ? bold : `${bold} \\fI${escape(label)}\\fR`]
}

function capital(doc: string): string {
  return /^[a-z]+\b(?![.:/=_-])/.test(doc) ? doc.charAt(0).toUpperCase() + doc.slice(1) : doc
}

/** Returns a paragraph on one line. A line that begins with a dot or a quote would be a command. */
function text(words: string): string {
  return escape(words).replace(/^[.']/, '\\&$&')
}

function escape(words: string): string {
  return words.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll('…', '...').replaceAll('\n', ' ')
}
