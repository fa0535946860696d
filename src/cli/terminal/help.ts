import { styleText } from 'node:util'
import { type Command, Help, Option } from 'commander'
import type { Terminal } from './terminal.js'
import { type DescribedOption, optionsOf } from '../../options/describe-option.js'

/** The usual width of a terminal. */
const COLUMNS = 80
/** Terms that are longer have their sentence on the next line. */
const TERM_COLUMNS = 29
const INDENT = 2

/** Lays out help in 80 columns, with colour on a terminal. Commands that are added later inherit it. */
export function layOutHelp(command: Command, terminal: Terminal): Command {
  return command
    .configureOutput({
      writeOut: terminal.draw.out,
      writeErr: terminal.draw.err,
      outputError: () => undefined,
      getOutHelpWidth: () => COLUMNS,
      getErrHelpWidth: () => COLUMNS,
      getOutHasColors: () => terminal.hasColors.out,
      getErrHasColors: () => terminal.hasColors.err,
    })
    .configureHelp({
      padWidth: () => TERM_COLUMNS,
      formatHelp: (shown, helper) => `${Help.prototype.formatHelp.call(helper, shown, helper).trimEnd()}\n`,
      formatItem,
      formatItemList: (heading, items, helper) =>
        items.length === 0 ? [] : [helper.styleTitle(heading), ...items, ''],
      styleTitle: text => styled('bold', text),
      styleOptionTerm: text => styled('cyan', text),
      styleSubcommandTerm: text => styled('cyan', text),
      styleArgumentTerm: text => styled('cyan', text),
    })
}

function formatItem(term: string, termWidth: number, description: string, helper: Help): string {
  const indent = ' '.repeat(INDENT)
  if (description === '') return indent + term
  const start = INDENT + termWidth
  const lines = helper.boxWrap(description, COLUMNS - start).split('\n')
  const [first = '', ...more] = lines
  const gap = termWidth - helper.displayWidth(term)
  const head = gap >= INDENT ? [indent + term + ' '.repeat(gap) + first] : [indent + term, ' '.repeat(start) + first]
  return [...head, ...more.map(line => ' '.repeat(start) + line)].join('\n')
}

/** Colours are removed again for an output without them. */
function styled(format: 'bold' | 'cyan', text: string): string {
  return styleText(format, text, { validateStream: false })
}

/**
 * Adds the flags of the table to a command. `--help` shows the flags that a first user needs, `--help-all` shows all, or those of a group.
 * The parser gets neither defaults nor environment: only `resolveOptions` decides which of flag, environment, file
 * and default counts.
 */
export function addOptions(command: Command, name: DescribedOption['commands'][number]): Command {
  const added = optionsOf(name).map(row => {
    const flags = row.short === undefined ? `${row.flag}` : `${row.short}, ${row.flag}`
    const option = new Option(termOf(flags, row, name), row.doc).helpGroup(`${row.group}:`)
    // A name that begins with "no" is a switch like any other: the parser has no default to turn off.
    option.negate = false
    if (row.kind.isRepeated === true)
      option.argParser((text: string, before: readonly string[] | undefined) => [...(before ?? []), text])
    option.hidden = !row.first.includes(name) || row.replaced !== undefined
    command.addOption(option)
    return { option, row }
  })
  if (added.every(({ option }) => !option.hidden)) return command
  const flags = new Set(added.map(({ row }) => row.flag))
  const listed = added.filter(({ row }) => row.replaced === undefined && !isFileOfSecret(row, flags))
  const groups = [...new Set(listed.map(({ row }) => row.group))]
  const showAll = (about: string | undefined) => {
    const shown = listed.filter(({ row }) => about === undefined || isAbout(row.group, about))
    if (shown.length === 0) command.error(`no group of options is named ${about}. There are: ${groups.join(', ')}`)
    for (const { option } of added) option.hidden = true
    for (const { option, row } of shown) {
      option.hidden = false
      option.description = inFull(row)
      if (flags.has(`${row.flag}-file`)) option.flags = termOf(`${row.flag}[-file]`, row, name)
    }
    command.help()
  }
  return command
    .option('--help-all [group]', `show all ${listed.length} options, or only those of a group`)
    .on('option:help-all', (about: string | null) => showAll(about ?? undefined))
}

function termOf(
  flags: string,
  { label, optionalIn }: DescribedOption,
  command: DescribedOption['commands'][number],
): string {
  if (label === undefined) return flags
  return `${flags} ${optionalIn?.includes(command) === true ? `[${label}]` : `<${label}>`}`
}

/** Returns whether an option only names a file that holds a secret. Help shows both in one line, as in `--password[-file]`. */
function isFileOfSecret({ flag }: DescribedOption, flags: ReadonlySet<string | undefined>): boolean {
  return flag?.endsWith('-file') === true && flags.has(flag.slice(0, -'-file'.length))
}

/** Finds a group by the beginning of one of its words. */
function isAbout(group: string, about: string): boolean {
  return [group, ...group.split(' ')].some(words => words.toLowerCase().startsWith(about.toLowerCase()))
}

function inFull({ doc, label, default: preset, env }: DescribedOption): string {
  const [, ...elsewhere] = env
  const notes = [
    ...(label === undefined || preset === undefined ? [] : [`default: ${preset}`]),
    ...(elsewhere.length === 0 ? [] : [`env: ${elsewhere.join(', ')}`]),
  ]
  return notes.length === 0 ? doc : `${doc} (${notes.join('; ')})`
}
