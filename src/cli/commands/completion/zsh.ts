import type { CommandNode, FlagNode } from './command-tree.js'

/** Returns the completion of zsh. */
export function zshCompletion(tree: readonly CommandNode[]): string {
  return `#compdef sluice
# Completion of sluice for zsh. Write it to a folder of $fpath:
#   sluice completion zsh > ~/.zsh/completions/_sluice
_sluice() {
  local -a verbs
  verbs=(
${tree.map(({ name, summary }) => `    ${quoted(`${escapeColons(name)}:${summary}`)}`).join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command verbs
    return
  fi
  local verb=$words[2]
  shift words
  (( CURRENT -= 1 ))
  case $verb in
${tree.map(caseOf).join('\n')}
  esac
}
if [ "$funcstack[1]" = _sluice ]; then _sluice "$@"; else compdef _sluice sluice; fi
`
}

function caseOf({ name, flags, words }: CommandNode): string {
  const rest = words.length === 0 ? `'*:file:_files'` : `${quoted(`1:word:(${words.join(' ')})`)} '*:file:_files'`
  const lines = [...flags.flatMap(specsOf), rest].map(line => `        ${line}`)
  return `    ${name})\n      _arguments -s \\\n${lines.join(' \\\n')} ;;`
}

function specsOf({ names, doc, label, values }: FlagNode): string[] {
  const value =
    label === undefined
      ? ''
      : `:${label.replaceAll(/[:'[\]]/g, ' ')}:${values.length === 0 ? '_files' : `(${values.join(' ')})`}`
  return names.map(name => quoted(`${name}[${doc.replaceAll(/[[\]\\]/g, '\\$&')}]${value}`))
}

function escapeColons(text: string): string {
  return text.replaceAll(':', '\\:')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
