import type { CommandNode } from './command-tree.js'

/** Returns the completion of bash, version 3.2 or later. */
export function bashCompletion(tree: readonly CommandNode[]): string {
  return `# Completion of sluice for bash. Add this to ~/.bashrc:
#   source <(sluice completion bash)
_sluice() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} verb='' at=1 words='' flags=''
  COMPREPLY=()
  while [ "$at" -lt "$COMP_CWORD" ]; do
    case \${COMP_WORDS[at]} in -*) ;; *) verb=\${COMP_WORDS[at]}; break ;; esac
    at=$((at + 1))
  done
  case $verb in
    '') words='${tree.map(({ name }) => name).join(' ')} help'; flags='--help --version' ;;
${tree.map(casesOf).join('\n')}
  esac
  case $word in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$word")) ;;
    *) if [ -n "$words" ]; then COMPREPLY=($(compgen -W "$words" -- "$word")); fi ;;
  esac
}
complete -o bashdefault -o default -F _sluice sluice
`
}

function casesOf({ name, flags, words }: CommandNode): string {
  const chosen = flags.filter(({ values }) => values.length > 0)
  const values = chosen.map(
    flag =>
      `        ${flag.names.join('|')}) COMPREPLY=($(compgen -W '${flag.values.join(' ')}' -- "$word")); return ;;`,
  )
  const plain = flags.filter(flag => flag.label !== undefined && flag.values.length === 0).flatMap(({ names }) => names)
  // Readline completes a file if there is no other proposal.
  const files = plain.length === 0 ? [] : [`        ${plain.join('|')}) return ;;`]
  const cases = [...values, ...files]
  const before = cases.length === 0 ? '' : `\n      case $before in\n${cases.join('\n')}\n      esac`
  return `    ${name})
      words='${words.join(' ')}'; flags='${flags.flatMap(({ names }) => names).join(' ')}'${before} ;;`
}
