import { type FileHandle, open } from 'node:fs/promises'
import { failure } from '../failure/failure.js'
import { SluiceError } from '../failure/sluice-error.js'

const READ_BYTES = 1 << 16
/** A record's head stands at its start, whatever the length of the document behind it. */
const HEAD_BYTES = 4096
const LINE_FEED = 0x0a

/** What tells a run's own records. */
export interface Owner {
  readonly run: string
  /** Of which its records are; absent: of any, because it sends dead letters again. */
  readonly inputs?: ReadonlySet<string>
}

/**
 * Cuts dead letters to the length that a checkpoint covers: what stands behind will be written again. Only if all of it is the
 * run's own: another run may have written to the same file since. Missing or shorter, the file is its owner's business.
 * Throws SluiceError DEAD_LETTERS_UNWRITABLE.
 */
export async function takeBack(path: string, length: number, owner: Owner): Promise<void> {
  let file: FileHandle
  try {
    file = await open(path, 'r+')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw unwritable(path, error)
  }
  try {
    const { size } = await file.stat()
    if (size <= length || !(await isAllOf(owner, file, length))) return
    await file.truncate(length)
    await file.sync()
  } catch (error) {
    throw unwritable(path, error)
  } finally {
    await file.close()
  }
}

/** Whether every line from `from` on is a record of the run's. The last one may have been torn. */
async function isAllOf(owner: Owner, file: FileHandle, from: number): Promise<boolean> {
  const buffer = Buffer.alloc(READ_BYTES)
  let head = ''
  let isWhole = false
  for (let at = from; ;) {
    const { bytesRead } = await file.read(buffer, 0, READ_BYTES, at)
    if (bytesRead === 0) return head === '' || isOf(owner, head, !isWhole)
    const chunk = buffer.subarray(0, bytesRead)
    at += bytesRead
    for (let start = 0; start < bytesRead;) {
      const lineFeed = chunk.indexOf(LINE_FEED, start)
      const end = lineFeed === -1 ? bytesRead : lineFeed
      head += chunk.toString('latin1', start, Math.min(end, start + HEAD_BYTES - head.length))
      isWhole = lineFeed !== -1
      if (isWhole && !isOf(owner, head, false)) return false
      if (isWhole) head = ''
      start = end + 1
    }
  }
}

const ORIGIN = /^\{"operation":"\w+",(?:"run":"([\w.-]+)",)?(?:[^{]*,)?"origin":\{"input":("(?:[^"\\]|\\.)*")/

function isOf({ run, inputs }: Owner, latin1: string, mayBeTorn: boolean): boolean {
  const head = Buffer.from(latin1, 'latin1').toString('utf8')
  const [, writer, input] = ORIGIN.exec(head) ?? []
  if (input === undefined)
    return mayBeTorn && head.length < HEAD_BYTES && head.startsWith('{"operation"'.slice(0, head.length))
  // Records of before there was a `run` in them tell by their input alone.
  if (writer !== undefined && writer !== run) return false
  return inputs === undefined ? writer !== undefined : inputs.has(JSON.parse(input) as string)
}

function unwritable(path: string, error: unknown): SluiceError {
  const { code, message } = error as NodeJS.ErrnoException
  return new SluiceError(failure('DEAD_LETTERS_UNWRITABLE', { path, problem: code ?? message }), { cause: error })
}
