/** Who holds a lock, told so that another process can prove that it is gone. */
import { readFile, readlink, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { pid } from 'node:process'
import { isDeserted } from './lock-sign.js'
import { lookAtProcess } from './process-start.js'
import { parseJson } from '../text/json.js'

/** A place where processes run. What a system does not tell is absent. */
interface Place {
  readonly host: string
  /** Of one installation; containers often have none. */
  readonly machine?: string
  /** Another one with every start of the machine; containers of one machine have the same. */
  readonly boot?: string
  /** Where a process number counts: containers have numbers of their own. */
  readonly pidSpace?: string
  /** The file system that holds the locks, as this machine knows it: mounted twice, it may have two. */
  readonly device?: string
}

export interface Holder extends Place {
  /** Made for one taking of locks, by one process. */
  readonly id: string
  readonly pid: number
  readonly started?: string
  /** ISO 8601. */
  readonly since: string
  readonly run?: string
  /** Absent: it loads. */
  readonly isUndo?: boolean
}

/** This process, as the holder of locks in a folder. */
export async function thisHolder(folder: string, id: string): Promise<Holder> {
  const { started } = await lookAtProcess(pid)
  const since = new Date().toISOString()
  return { id, pid, ...(started === undefined ? {} : { started }), ...(await thisPlace(folder)), since }
}

/**
 * Whether it is certain that the holder is gone. False wherever that cannot be told from here: on another machine, or where
 * numbers of processes mean others. `sign`: the socket of the holder.
 */
export async function isGone(holder: Holder, sign: string): Promise<boolean> {
  const here = await thisPlace(dirname(sign))
  if (holder.boot !== here.boot) {
    // Two machines may be given one name: then only what they were installed with tells them apart.
    const isTold = holder.boot !== undefined && here.boot !== undefined && holder.machine !== undefined
    return isTold && holder.machine === here.machine && holder.host === here.host
  }
  const isSameMachine = here.boot !== undefined
  if (isSameMachine && holder.device === here.device && (await isDeserted(sign))) return true
  if (holder.host !== here.host || holder.pidSpace !== here.pidSpace) return false
  const { isThere, started } = await lookAtProcess(holder.pid)
  return !isThere || (started !== undefined && holder.started !== undefined && started !== holder.started)
}

/** What the file of a lock says. Undefined where it is not a holder of ours. */
export function parseHolder(text: string): Holder | undefined {
  const value = parseJson(text) as Partial<Record<keyof Holder, unknown>> | null | undefined
  const isHolder =
    typeof value?.id === 'string' &&
    /^[0-9a-f]+$/.test(value.id) &&
    typeof value.pid === 'number' &&
    // Of 0 and below, signals go to groups of processes.
    value.pid > 0 &&
    typeof value.host === 'string' &&
    typeof value.since === 'string'
  return isHolder ? (value as Holder) : undefined
}

async function thisPlace(folder: string): Promise<Place> {
  const boot = await orNothing(readFile('/proc/sys/kernel/random/boot_id', 'utf8'))
  const machine = (await orNothing(readFile('/etc/machine-id', 'utf8')))?.trim()
  const pidSpace = await orNothing(readlink('/proc/self/ns/pid'))
  const device = await orNothing(stat(folder, { bigint: true }))
  return {
    host: hostname(),
    ...(machine === undefined || machine === '' ? {} : { machine }),
    ...(boot === undefined ? {} : { boot: boot.trim() }),
    ...(pidSpace === undefined ? {} : { pidSpace }),
    ...(device === undefined ? {} : { device: String(device.dev) }),
  }
}

async function orNothing<T>(reading: Promise<T>): Promise<T | undefined> {
  return await reading.catch(() => undefined)
}
