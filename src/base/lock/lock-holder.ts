/** Describes who holds a lock, so that another process can prove that the holder is gone. */
import { isoTime } from '../time/clock.js'
import { execFile } from 'node:child_process'
import { readFile, readlink, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { kill, pid } from 'node:process'
import { promisify } from 'node:util'
import { parseJson } from '../json/parse-json.js'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'

/** A place where processes run. A field is absent if the system does not report it. */
interface Place {
  readonly host: string
  /** The id of one installation. Containers often have none. */
  readonly machine?: string
  /** Changes with every start of the machine. Containers of one machine have the same. */
  readonly boot?: string
  /** The namespace of process numbers. Containers have their own. */
  readonly pidSpace?: string
  /** The number of the file system that holds the locks. A file system that is mounted twice may have two. */
  readonly device?: string
}

export interface Holder extends Place {
  /** A new id each time a process takes locks. */
  readonly id: string
  readonly pid: number
  readonly started?: string
  /** ISO 8601. */
  readonly since: string
  readonly run?: string
  /** The cluster that it loads into, once that is known. Several URLs may lead there. */
  readonly clusterUuid?: string
  /** Absent if the process loads. */
  readonly isUndo?: boolean
}

/** Describes this process as the holder of locks in a folder. */
export async function thisHolder(folder: string, id: string): Promise<Holder> {
  const { started } = await lookAtProcess(pid)
  const since = isoTime(new Date())
  return { id, pid, ...(started === undefined ? {} : { started }), ...(await thisPlace(folder)), since }
}

/**
 * Returns whether the holder is certainly gone. Returns false if this process cannot know: the holder is on another
 * machine, or in a container with its own process numbers. `socket`: the socket of the holder.
 */
export async function isGone(holder: Holder, socket: string): Promise<boolean> {
  const here = await thisPlace(dirname(socket))
  if (holder.boot !== here.boot) {
    // Two machines may have the same name. Then only the id of the installation is different.
    const isTold = holder.boot !== undefined && here.boot !== undefined && holder.machine !== undefined
    return isTold && holder.machine === here.machine && holder.host === here.host
  }
  const isSameMachine = here.boot !== undefined
  if (isSameMachine && holder.device === here.device && (await isDeserted(socket))) return true
  if (holder.host !== here.host || holder.pidSpace !== here.pidSpace) return false
  return await isProcessGone(holder)
}

/** Returns whether a process of this place is certainly gone. */
export async function isProcessGone(holder: Pick<Holder, 'pid' | 'started'>): Promise<boolean> {
  const { isThere, started } = await lookAtProcess(holder.pid)
  return !isThere || (started !== undefined && holder.started !== undefined && started !== holder.started)
}

/** Returns whether two processes run on one machine. There, a file has the same numbers for both, also in containers. */
export function isSameMachine(one: Holder, other: Holder): boolean {
  return one.boot === other.boot && (one.boot !== undefined || one.host === other.host)
}

/** Reads the file of a lock. Returns undefined if the file is no lock of Sluice. */
export function parseHolder(text: string): Holder | undefined {
  const value = parseJson(text) as Partial<Record<keyof Holder, unknown>> | null | undefined
  const isHolder =
    typeof value?.id === 'string' &&
    /^[0-9a-f]+$/.test(value.id) &&
    typeof value.pid === 'number' &&
    // With a number of 0 or less, a signal goes to a group of processes.
    value.pid > 0 &&
    typeof value.host === 'string' &&
    typeof value.since === 'string'
  return isHolder ? (value as Holder) : undefined
}

async function thisPlace(folder: string): Promise<Place> {
  const device = await orNothing(stat(folder, { bigint: true }))
  return { ...(await (ownMachine ??= thisMachine())), ...(device === undefined ? {} : { device: String(device.dev) }) }
}

/** Stays the same while this process lives, which may ask for it thousands of times. */
let ownMachine: Promise<Place> | undefined

async function thisMachine(): Promise<Place> {
  const boot = await orNothing(readFile('/proc/sys/kernel/random/boot_id', 'utf8'))
  const machine = (await orNothing(readFile('/etc/machine-id', 'utf8')))?.trim()
  const pidSpace = await orNothing(readlink('/proc/self/ns/pid'))
  return {
    host: hostname(),
    ...(machine === undefined || machine === '' ? {} : { machine }),
    ...(boot === undefined ? {} : { boot: boot.trim() }),
    ...(pidSpace === undefined ? {} : { pidSpace }),
  }
}

async function orNothing<T>(reading: Promise<T>): Promise<T | undefined> {
  return await reading.catch(() => undefined)
}

interface ProcessSeen {
  readonly isThere: boolean
  /** Stays the same while the process lives, and differs from every other process. Absent if unknown. */
  readonly started?: string
}

/**
 * Finds out whether a process is there and when it started. The system may have given its number to another process.
 * `proc` is the folder where Linux lists processes.
 */
export async function lookAtProcess(pid: number, proc = '/proc'): Promise<ProcessSeen> {
  if (!takesSignals(pid)) return { isThere: false }
  const hasProc = (await orNothing(readFile(join(proc, 'self', 'stat'), 'utf8'))) !== undefined
  return hasProc ? readStat(await orNothing(readFile(join(proc, String(pid), 'stat'), 'utf8'))) : await askPs(pid)
}

function takesSignals(pid: number): boolean {
  try {
    return kill(pid, 0)
  } catch (error) {
    // The process is there and belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Reads a line of /proc. There is none if the system hides the processes of others. */
function readStat(text: string | undefined): ProcessSeen {
  if (text === undefined) return { isThere: true }
  // The second field is the program's name, which may hold anything.
  const [state = '', ...fields] = text.slice(text.lastIndexOf(')') + 2).split(' ')
  // The process is dead, but its parent has not read its exit code yet.
  if (state === 'Z' || state === 'X') return { isThere: false }
  const started = fields[18]
  return started === undefined ? { isThere: true } : { isThere: true, started }
}

/** Reads the start as a date. Unlike the ticks of Linux, a date is different after a restart of the machine. */
async function askPs(pid: number): Promise<ProcessSeen> {
  try {
    const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }
    const { stdout } = await promisify(execFile)('ps', ['-o', 'lstart=', '-p', String(pid)], { env })
    const started = stdout.trim()
    return started === '' ? { isThere: true } : { isThere: true, started }
  } catch {
    return { isThere: true }
  }
}

/** The longest path of a socket that every system takes. Some systems cut off longer paths without an error. */
const PATH_BYTES = 100

/** Listens until disposed. Returns undefined if the file system takes no sockets. */
export async function listenOnSocket(path: string): Promise<AsyncDisposable | undefined> {
  if (Buffer.byteLength(path) > PATH_BYTES) return undefined
  const listener = createServer(socket => socket.destroy())
  try {
    listener.listen(path)
    await once(listener, 'listening')
  } catch {
    return undefined
  }
  // The socket does not keep the process alive.
  listener.unref()
  listener.on('error', () => undefined)
  return {
    [Symbol.asyncDispose]: async () => {
      await new Promise<void>(resolve => listener.close(() => resolve()))
    },
  }
}

/** Returns whether the socket certainly has no listener any more. */
export async function isDeserted(path: string): Promise<boolean> {
  if (Buffer.byteLength(path) > PATH_BYTES) return false
  return await new Promise(resolve => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(false)
    })
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'))
  })
}
