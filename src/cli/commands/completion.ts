import type { Command } from 'commander'
import { fail, failureCodes } from '../../base/failure/failure.js'
import type { Terminal } from '../terminal/terminal.js'
import { bashCompletion } from './completion/bash.js'
import { describeOption, isReplaced, optionNames } from '../../options/describe-option.js'
import { type CommandNode, treeOf } from './completion/command-tree.js'
import { fishCompletion } from './completion/fish.js'
import { manPage } from './completion/man.js'
import { zshCompletion } from './completion/zsh.js'

const shells = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
  man: (tree: readonly CommandNode[], version: string) =>
    manPage({ version, tree, options: optionNames.filter(name => !isReplaced(name)).map(describeOption) }),
} as const

/** Words that commands take instead of files. */
const words = {
  completion: Object.keys(shells),
  explain: failureCodes,
  runs: ['rm'],
  pull: ['servicenow:'],
} as const

/** `whole`: makes the commands with all their flags. */
export function defineCompletion(
  command: Command,
  terminal: Terminal,
  done: (code: number) => void,
  whole: () => Promise<Command>,
): void {
  command
    .argument('<shell>', 'bash, zsh or fish, or man for the man page')
    .addHelpText(
      'after',
      `
Examples:
  source <(sluice completion bash)                          # in ~/.bashrc
  sluice completion zsh > ~/.zsh/completions/_sluice        # a folder of $fpath
  sluice completion fish > ~/.config/fish/completions/sluice.fish
  sluice completion man > sluice.1                          # the man page`,
    )
    .action(async (shell: string) => {
      if (!Object.hasOwn(shells, shell))
        throw fail('OPTION_INVALID', {
          option: '<shell>',
          problem: `'${shell}' is not one of ${Object.keys(shells).join(', ')}`,
        })
      const write = shells[shell as keyof typeof shells]
      terminal.out(write(treeOf(await whole(), words), terminal.manner.version ?? ''))
      done(0)
    })
}
