/** Reads the state that Sluice wrote before it kept a journal for each run: one JSON file for each command. */
import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import type { Mark } from '../../../base/flow.js'
import { isObject, parseJson } from '../../../base/json/parse-json.js'
import type { Checkpoint, CheckpointInput, OldIdentity } from './checkpoint.js'

const VERSION = 1
const TAIL_BYTES = 64 << 10

interface OldCheckpoint extends Omit<Checkpoint, 'inputs' | 'scope' | 'key' | 'left'> {
  readonly inputs: readonly OldInput[]
}

interface OldInput extends Omit<CheckpointInput, 'id' | 'status' | 'file' | 'hasStored'> {
  readonly status: 'waiting' | CheckpointInput['status']
  readonly file?: OldIdentity & { readonly isCompressed: boolean }
}

/** `key`: the name of its file. Returns the problem if the text is no such state. */
export function parseOldCheckpoint(text: Buffer, key: string): Checkpoint | string {
  const value = parseJson(text)
  if (!isObject(value)) return 'it is not JSON'
  const { version } = value
  if (typeof version === 'number' && version > VERSION) return `a newer version of Sluice wrote it (version ${version})`
  if (version !== VERSION) return `its version is ${String(version)}`
  const old = value as unknown as OldCheckpoint
  const isWhole =
    typeof old.run === 'string' &&
    Array.isArray(old.inputs) &&
    Array.isArray(old.sources) &&
    isObject(old.target) &&
    isObject(old.counts) &&
    isObject(old.options)
  if (!isWhole) return 'it is broken: fields are missing or have the wrong type'
  const { inputs, ...whole } = old
  const { created, updated, duplicate, unknown } = old.counts
  const hasStored = created + updated + duplicate + unknown > 0 || old.status === 'running'
  const replay = old.options['ids'] === 'replay'
  const scope = replay
    ? (old.options['index'] ?? '')
    : old.target.alias === undefined
      ? old.target.index
      : `alias ${old.target.alias}`
  return {
    ...whole,
    scope,
    ...(replay ? { kind: 'replay' } : {}),
    // A run of an older Sluice that has a name of the user's is not known as such.
    key,
    inputs: inputs.flatMap((input, id) => inputOf(input, id, old, hasStored)),
    left: inputs.filter(({ status }) => status !== 'finished').length,
  }
}

/** Returns an input if some of it may be sent. Nothing of a waiting input is, unless the process was killed before its first checkpoint. */
function inputOf(
  { status, file, ...input }: OldInput,
  id: number,
  { sources, isDoubtful }: OldCheckpoint,
  hasStored: boolean,
): CheckpointInput[] {
  const isWaiting = status === 'waiting'
  if (isWaiting && !isDoubtful) return []
  const begun = { ...input, id, status: isWaiting ? 'begun' : status, hasStored } as const
  if (file === undefined || input.copy !== undefined) return [begun]
  const bytes = isWaiting ? 0 : readTo(input.mark, file)
  return [{ ...begun, file: { path: pathOf(input.name, sources), stat: undefined, bytes, sum: '', old: file } }]
}

/** Returns how many bytes were read. For compressed files, Sluice only kept the size. */
function readTo({ kind, offset, tail }: Mark, { size, isCompressed }: NonNullable<OldInput['file']>): number {
  return kind === 'lines' && !isCompressed ? offset + tail : size
}

/** Finds the folder that a relative name was relative to: the absolute path or glob of the command ends like the name. */
function pathOf(name: string, sources: readonly string[]): string | undefined {
  if (isAbsolute(name)) return name
  const parts = name.split('/')
  for (const source of sources) {
    if (source === name || source.endsWith(`/${name}`)) return source
    const folders = source.split('/').slice(0, -1)
    const plain = folders.findIndex(part => /[*?[{(!\\]/.test(part))
    const folder = (plain === -1 ? folders : folders.slice(0, plain)).join('/')
    for (let shared = parts.length - 1; shared > 0; shared -= 1)
      if (folder.endsWith(`/${parts.slice(0, shared).join('/')}`)) return `${folder}/${parts.slice(shared).join('/')}`
    if (plain === -1 && parts.length === 1) return `${folder}/${name}`
  }
  return undefined
}

/** Returns whether a file still begins as it did, and has the same bytes before the position that was read. */
export async function holdsStill({ head, tail }: OldIdentity, path: string): Promise<boolean> {
  const first = await hashOf(path, 0, head.bytes)
  const last = await hashOf(path, Math.max(0, tail.end - TAIL_BYTES), tail.end)
  return first === head.sha256 && last === tail.sha256
}

async function hashOf(path: string, from: number, to: number): Promise<string | undefined> {
  const file = await open(path, 'r').catch(() => undefined)
  try {
    const { bytesRead = 0, buffer } = (await file?.read(Buffer.alloc(to - from), 0, to - from, from)) ?? {}
    return buffer === undefined || bytesRead < to - from ? undefined : createHash('sha256').update(buffer).digest('hex')
  } catch {
    return undefined
  } finally {
    await file?.close()
  }
}
