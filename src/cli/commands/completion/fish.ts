import type { CommandNode, FlagNode } from './command-tree.js'

/** Returns the completion of fish. */
export function fishCompletion(tree: readonly CommandNode[]): string {
  const verbs = tree.map(
    ({ name, summary }) => `complete -c sluice -n __fish_use_subcommand -f -a ${name} -d ${quoted(summary)}`,
  )
  return `# Completion of sluice for fish. Write it to a file:
#   sluice completion fish > ~/.config/fish/completions/sluice.fish
${verbs.join('\n')}
${tree.flatMap(linesOf).join('\n')}
`
}

function linesOf({ name, flags, words }: CommandNode): string[] {
  const when = `complete -c sluice -n ${quoted(`__fish_seen_subcommand_from ${name}`)}`
  const following = words.length === 0 ? [] : [`${when} -a ${quoted(words.join(' '))}`]
  return [...flags.map(flag => `${when}${flagOf(flag)}`), ...following]
}

function flagOf({ names, doc, label, values }: FlagNode): string {
  const forms = names.map(name => (name.startsWith('--') ? ` -l ${name.slice(2)}` : ` -s ${name.slice(1)}`)).join('')
  const value = label === undefined ? '' : values.length === 0 ? ' -r' : ` -x -a ${quoted(values.join(' '))}`
  return `${forms}${value} -d ${quoted(doc)}`
}

function quoted(text: string): string {
  return `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`
}
