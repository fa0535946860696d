/** Reads objects on servers as inputs, beside files: from URLs of http and https, and from S3. */
import { setMaxListeners } from 'node:events'
import { type Failure, isSluiceError } from '../../base/failure/failure.js'
import type { ConnectSection, RemoteSection, RetrySection } from '../../options/load.js'
import type { EndingHook, Feature, InputsHook, RouteHook, Run } from '../../run/loop/hooks.js'
import { findSources } from '../../pipeline/source/open-sources.js'
import { type CuttableInput, FileTable, type SeenInput } from '../../pipeline/source/stored-file.js'
import type { Elsewhere, FoundFile, SeenObject } from '../../pipeline/source/find-files.js'
import { formOf, isSigned, isSourceUrl } from '../../base/text/source-url.js'
import { systemClock } from '../../base/time/clock.js'
import { Checksum } from '../../base/checksum/checksum.js'
import type { SourcePatience } from './attempts.js'
import { openHttpStore } from './http-store.js'
import { probe } from './probe.js'
import { PartMemory } from './memory.js'
import { DEVICE, RemoteObject, statOf, streamedObject } from './remote-object.js'
import { Shelf } from './shelf.js'
import { type KeptServers, SourceServers } from './source-servers.js'
import type { FoundObject, Store } from './store.js'

/** Bytes of all objects that wait in memory, beside the part that is being read. */
const MOST_BYTES = 32 << 20
/** A run does not report each retry. */
const WARN_EVERY_MS = 60_000

export interface RemoteSections {
  readonly connecting: ConnectSection
  readonly retrying: RetrySection
  readonly remote: RemoteSection
}

/** `kept`: servers that outlive the load. */
export function readRemote(sections: RemoteSections, kept?: KeptServers): Feature {
  return run => hookOf(openRemote(sections, run, kept))
}

/** Opens servers for inputs that no run reads. */
export function openRemote(sections: RemoteSections, run: Run, kept?: KeptServers): Remote {
  const remote = new Remote(sections, run, kept)
  remote.warnOfPlaintext()
  return remote
}

function hookOf(remote: Remote): InputsHook & RouteHook & EndingHook {
  const { elsewhere, warn } = remote
  const { isThere } = elsewhere
  return {
    identify: plain => ({ ...plain, plan: async planning => await plain.plan({ ...planning, isThere }) }),
    sources: async ({ source, stdin }, signal) =>
      await findSources(source, { elsewhere, signal, warn, ...(stdin === undefined ? {} : { stdin }) }),
    connected: async () => await Promise.resolve(remote.notes),
    dispose: async () => await remote[Symbol.asyncDispose](),
  }
}

/** Everything that a run reads from servers. */
class Remote implements AsyncDisposable {
  readonly elsewhere: Elsewhere = {
    has: isSourceUrl,
    find: (name, order) => this.#find(name, order),
    forget: () => this.#forget(),
    known: async (id, name, seen) => await this.#known(id, name, seen),
    isThere: async (name, seen) => await this.#isThere(name, seen),
  }
  readonly #sections: RemoteSections
  readonly #run: Run
  readonly #servers: SourceServers
  readonly #isKept: boolean
  readonly #over = new AbortController()
  readonly #signal: AbortSignal
  readonly #patience: SourcePatience
  readonly #table = new FileTable('/')
  readonly #memory = new PartMemory(MOST_BYTES)
  #http: Shelf | undefined
  #s3: Promise<Shelf> | undefined
  #warnedAt = -Infinity
  readonly #notes = new Set<string>()

  constructor(sections: RemoteSections, run: Run, kept: KeptServers | undefined) {
    const { connecting, retrying, remote } = sections
    this.#sections = sections
    this.#run = run
    this.#isKept = kept !== undefined
    const settings = {
      proxy: remote.throughProxy ? connecting.proxy : undefined,
      ca: remote.ca,
      connectTimeoutMs: connecting.connectTimeoutMs,
    }
    this.#servers = kept?.open ?? new SourceServers(settings)
    if (kept !== undefined) kept.open = this.#servers
    this.#signal = AbortSignal.any([run.stop.signal, this.#over.signal])
    // Every request listens.
    setMaxListeners(0, this.#signal)
    this.#patience = {
      clock: systemClock,
      random: Math.random,
      maxElapsedMs: retrying.maxElapsedMs,
      onRetry: (failure, waitMs) => this.#warn(failure, waitMs),
    }
  }

  readonly warn = (message: string): void => this.#run.tell({ type: 'warning', message })

  get notes(): readonly string[] {
    return [...this.#servers.routes.all(), ...this.#notes]
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort(new Error('the run is over'))
    if (!this.#isKept) await this.#servers.close()
  }

  async *#find(...[name, order]: Parameters<Elsewhere['find']>): ReturnType<Elsewhere['find']> {
    const { stop } = this.#run
    try {
      const shelf = await this.#shelfOf(name)
      const signal = this.#signal
      const { timeoutMs } = this.#sections.connecting
      const found = shelf.store.find(name, { signal, timeoutMs }, order)
      for await (const object of found) yield this.#fileOf(object, shelf)
    } catch (error) {
      throw stop.cause(error)
    }
  }

  #forget(): void {
    this.#table.clear()
    this.#http?.clear()
    void this.#s3?.then(
      shelf => shelf.clear(),
      // The search that opened it has thrown this error.
      () => undefined,
    )
  }

  async #known(id: number, name: string, { size, modifiedMs, content }: SeenInput): Promise<CuttableInput> {
    const shelf = await this.#shelfOf(name)
    const etagNumber = Number(content)
    this.#table.set(id, name, DEVICE, { size, ...statOf(name, { etagNumber, modifiedMs }) })
    if (etagNumber === 0) shelf.wholes.add(id)
    shelf.pinned.add(id)
    return new RemoteObject(id, shelf)
  }

  /** Asks only servers of this load, because the user named no others. */
  async #isThere(name: string, { etagNumber, begins }: SeenObject): Promise<boolean> {
    const store = formOf(name) === 's3' ? (await this.#s3)?.store : this.#storeBeside(name)
    if (store === undefined) return true
    const { timeoutMs } = this.#sections.connecting
    try {
      const { etagNumber: now, head } = await probe(store.get, name, { signal: this.#signal, timeoutMs })
      if (now !== 0 && now === etagNumber) return true
      // A file of the same name may have taken its place.
      if (begins !== undefined && head !== undefined)
        return Checksum.of(head.subarray(0, begins.bytes)) === begins.sum && head.length >= begins.bytes
      return now === 0 || etagNumber === 0
    } catch (error) {
      if (!isSluiceError(error)) throw this.#run.stop.cause(error)
      return error.code !== 'INPUT_NOT_FOUND'
    }
  }

  /** Returns a store for another object of a web server, with the login of an input that lies there. */
  #storeBeside(name: string): Store | undefined {
    const { remote } = this.#sections
    const url = URL.canParse(name) ? new URL(name) : undefined
    const beside = [...remote.addresses.values()].find(one => one.url?.origin === url?.origin)
    if (url === undefined || beside === undefined) return undefined
    const addresses = new Map([[name, { ...beside, name, url }]])
    return openHttpStore({ routes: this.#servers.routes, patience: this.#patience, ...remote, addresses })
  }

  #fileOf(object: FoundObject, shelf: Shelf): FoundFile {
    const { name, size, hasRanges, head } = object
    const stat = statOf(name, object)
    if (size === undefined)
      this.#note(name, 'does not say how long it is, so every run reads it from its start, and loads what is new')
    else if (object.etagNumber === 0 || !hasRanges)
      this.#note(
        name,
        'is sent without a strong ETag or without ranges: after a lost connection, and to see whether it has changed, Sluice reads it from its start',
      )
    return {
      name,
      kind: 'elsewhere',
      device: DEVICE,
      inode: stat.inode,
      open: id => {
        if (size === undefined) return streamedObject(id, name, shelf)
        this.#table.set(id, name, DEVICE, { ...stat, size })
        if (!hasRanges || object.etagNumber === 0) shelf.wholes.add(id)
        if (head !== undefined) shelf.heads.set(id, head)
        return new RemoteObject(id, shelf)
      },
    }
  }

  async #shelfOf(name: string): Promise<Shelf> {
    if (formOf(name) !== 's3')
      return (this.#http ??= this.#shelf(
        openHttpStore({ routes: this.#servers.routes, patience: this.#patience, ...this.#sections.remote }),
      ))
    this.#s3 ??= this.#openS3(name)
    return await this.#s3
  }

  /** Most loads read nothing from S3, and need no code for it. */
  async #openS3(name: string): Promise<Shelf> {
    const { openS3Store } = await import('./s3-store.js')
    return this.#shelf(await openS3Store(name, this.#servers, this.#patience))
  }

  #shelf(store: Store): Shelf {
    const { timeoutMs } = this.#sections.connecting
    return new Shelf({
      store,
      table: this.#table,
      memory: this.#memory,
      signal: this.#signal,
      patience: this.#patience,
      timeoutMs,
    })
  }

  /** The object goes over the same connections, so Sluice only warns. A login and a token may open more than one object. */
  warnOfPlaintext(): void {
    const open = [...this.#sections.remote.addresses.values()].filter(
      ({ url }) => url?.protocol === 'http:' && isSigned(url) && !this.#servers.routes.isLocal(url),
    )
    const [first] = open
    if (first === undefined) return
    const more = open.length === 1 ? '' : ` The same is true of ${open.length - 1} more.`
    this.warn(
      `the signature in the URL of ${first.name} goes over plain http, so anybody on the route can use it.${more} Use https`,
    )
  }

  #note(name: string, sentence: string): void {
    this.#notes.add(`${name} ${sentence}`)
  }

  #warn({ message }: Failure, waitMs: number): void {
    const now = systemClock.now()
    if (now - this.#warnedAt < WARN_EVERY_MS) return
    this.#warnedAt = now
    this.warn(`${message}. Sluice retries in ${(waitMs / 1000).toFixed(1)} s`)
  }
}

export type { KeptServers }
