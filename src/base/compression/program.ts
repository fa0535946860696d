import type { ChildProcessByStdio } from 'node:child_process'
import { env } from 'node:process'
import type { Readable, Writable } from 'node:stream'
import { fail } from '../failure/failure.js'
import { corrupt, type StreamPlace, truncated } from './fault.js'

type Program = 'bzip2' | 'xz' | 'zstd'
type Child = ChildProcessByStdio<Writable, Readable, Readable>

/** Bytes of the program's complaints that are kept. */
const MOST_SAID = 4096

/**
 * Memory that a file may make xz take, in MiB. A small file can ask for 1.5 GiB, and the highest level of xz needs 65 MiB. Other programs
 * have limits of their own. It is passed as a variable because not every xz knows the option.
 */
const MOST_MEMORY_MIB = 256

/** Decodes through a program of that name, which must be installed. It gets no environment but PATH: options and secrets of ours stay here. */
export async function* decodeByProgram(
  program: Program,
  compressed: AsyncIterable<Uint8Array>,
  input: string,
): AsyncGenerator<Uint8Array> {
  const place: StreamPlace = { input, encoding: program, bytes: 0 }
  const ours = { PATH: env['PATH'], LC_ALL: 'C', XZ_OPT: `--memlimit-decompress=${MOST_MEMORY_MIB}MiB` }
  // Loaded when used: most loads do without.
  const { spawn } = await import('node:child_process')
  const child = spawn(program, ['-dc'], { stdio: ['pipe', 'pipe', 'pipe'], env: ours, windowsHide: true })
  const ended = endOf(child)
  const fed = feed(child.stdin, compressed)
  fed.catch(() => undefined) // seen below, when all that it wrote is decoded
  try {
    for await (const output of child.stdout as AsyncIterable<Uint8Array>) {
      place.bytes += output.length
      yield output
    }
    const { isWell, said, startError } = await ended
    if (startError !== undefined) throw cannotStart(program, input, startError)
    // The input's own error comes before what the program says about its missing rest.
    await fed
    // bzip2 passes over other data behind its own with a warning, and then ends well.
    if (isWell && said === '') return
    if (/memory usage limit/i.test(said)) throw tooLarge(place)
    throw /unexpected end|ends unexpectedly|premature end/i.test(said) ? truncated(place) : corrupt(place, said)
  } finally {
    child.kill('SIGKILL')
  }
}

interface End {
  readonly isWell: boolean
  readonly said: string
  readonly startError?: Error
}

function endOf(child: Child): Promise<End> {
  let said = ''
  child.stderr.setEncoding('latin1').on('data', (text: string) => {
    said = (said + text).slice(0, MOST_SAID)
  })
  return new Promise(resolve => {
    child.once('error', startError => resolve({ isWell: false, said, startError }))
    child.once('close', (code, signal) => {
      const line = said.replaceAll(/\s+/g, ' ').trim()
      resolve({
        isWell: code === 0,
        said: line === '' && code !== 0 ? `the program ended with ${signal ?? code}` : line,
      })
    })
  })
}

/** Writes the input to the program. Ends without an error if the program stops reading: it says why. */
async function feed(stdin: Writable, compressed: AsyncIterable<Uint8Array>): Promise<void> {
  let isClosed = false
  let goOn: (value?: unknown) => void = () => {}
  const closed = () => {
    isClosed = true
    goOn()
  }
  stdin
    .on('drain', () => goOn())
    .on('error', closed)
    .on('close', closed)
  try {
    for await (const chunk of compressed) {
      if (isClosed) return
      // The next chunk may overwrite this one.
      if (!stdin.write(Buffer.from(chunk))) await new Promise(resolve => (goOn = resolve))
    }
  } finally {
    stdin.end()
  }
}

function tooLarge({ input, encoding }: StreamPlace): Error {
  const problem = `it needs more than ${MOST_MEMORY_MIB} MiB of memory to decompress. Compress it again with \`${encoding} -9\` or a lower level`
  return fail('INPUT_UNREADABLE', { input, problem })
}

function cannotStart(program: Program, input: string, cause: Error): Error {
  const isMissing = 'code' in cause && cause.code === 'ENOENT'
  const orNode = program === 'zstd' ? ', or use Node.js 22.15 or newer' : ''
  const problem = isMissing
    ? `it is compressed with ${program}. To read it, install the program ${program}${orNode}`
    : `it is compressed with ${program}, and the program ${program} does not start (${cause.message})`
  return fail('INPUT_UNREADABLE', { input, problem }, { cause })
}
