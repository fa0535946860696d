/** The possible words of a command line, as the parser knows them: for completion by shells, and for the man page. */
import type { Command } from 'commander'
import { optionNames, describeOption, isReplaced } from '../../../options/describe-option.js'

export interface CommandNode {
  readonly name: string
  readonly summary: string
  readonly flags: readonly FlagNode[]
  /** Words that may follow instead of a file. */
  readonly words: readonly string[]
}

export interface FlagNode {
  /** All its names: `-q`, `--quiet`. */
  readonly names: readonly string[]
  readonly doc: string
  /** How its value is shown. Absent: it takes none. */
  readonly label?: string | undefined
  /** Its only values, if they can be listed. */
  readonly values: readonly string[]
}

/** Old spellings still work, but nobody should learn them. */
const old = new Set(optionNames.filter(isReplaced).map(name => describeOption(name).flag ?? ''))

/** `words`: what may follow a command, if it is no file. */
export function treeOf(root: Command, words: Readonly<Record<string, readonly string[]>>): CommandNode[] {
  return root.commands.map(command => ({
    name: command.name(),
    summary: command.description(),
    flags: [
      ...[command, ...command.commands]
        .flatMap(one => one.options)
        .filter(isNew())
        .filter(({ long }) => !old.has(long ?? ''))
        .map(flagOf),
      { names: ['-h', '--help'], doc: 'display help for command', values: [] },
    ],
    words: command.commands.length > 0 ? command.commands.map(one => one.name()) : (words[command.name()] ?? []),
  }))
}

/** Returns what keeps the first flag of each name. */
function isNew(): (option: Command['options'][number]) => boolean {
  const seen = new Set<string>()
  return ({ flags }) => !seen.has(flags) && seen.add(flags).size > 0
}

function flagOf({ short, long, description, flags }: Command['options'][number]): FlagNode {
  const label = /[<[](.+)[>\]]/.exec(flags)?.[1]
  return {
    names: [short, long].filter(name => name !== undefined),
    doc: description,
    label,
    values: valuesOf(long),
  }
}

/** Lists the values of a flag that is a choice. */
function valuesOf(long: string | undefined): readonly string[] {
  const name = optionNames.find(one => describeOption(one).flag === long)
  const label = name === undefined ? undefined : describeOption(name).kind.label
  return label !== undefined && /^[\w-]+(\|[\w-]+)+$/.test(label) ? label.split('|') : []
}
