/** A command line, run in this process: the failure, or the first finding, that it prints with --json. */
import { PassThrough } from 'node:stream'
import { runProgram } from '../../src/cli/program.js'
import type { Terminal } from '../../src/cli/terminal/terminal.js'
import type { Told } from './cause.js'

interface Printed {
  readonly failure?: Told
  readonly findings?: readonly Told[]
}

export async function command(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Told> {
  let printed = ''
  const ignore = (): void => {}
  const terminal: Terminal = {
    manner: { json: false, secrets: [] },
    env,
    stdin: new PassThrough() as unknown as Terminal['stdin'],
    hasColors: { out: false, err: false },
    stderr: { isTTY: false, columns: 80 },
    out: text => void (printed += text),
    pour: async bytes => {
      printed += Buffer.from(bytes).toString()
      return true
    },
    err: ignore,
    log: ignore,
    draw: { out: ignore, err: ignore },
    on: ignore,
    off: ignore,
    exit: code => {
      throw new Error(`exit ${code}`)
    },
    flush: async () => undefined,
  }
  await runProgram([...args, '--json'], terminal, '0.0.0')
  const { failure, findings = [] } = JSON.parse(printed) as Printed
  const { code, message } = failure ?? findings[0] ?? { code: 'nothing', message: '' }
  return { code, message }
}
