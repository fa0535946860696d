import type { Cluster } from '../cluster/cluster.js'
import { extendMapping } from '../cluster/mapping.js'
import type { Index } from '../cluster/store.js'
import type { FaultPlan, Faults } from '../faults.js'
import type { FilterBody } from '../filter/edge.js'
import type { NewPolicy, Policies, Policy } from '../filter/policies.js'
import { type Register, register } from '../filter/presets.js'
import type { Inbound } from '../inbound/inbound.js'
import type { LabLine } from '../lab-line.js'
import type { LabRefusal, Refusals } from '../refusals.js'
import type { Arrival } from '../listener.js'
import type { ManagedControl } from '../managed/queue.js'
import type { Credentials } from '../proxy/credentials.js'
import type { ServiceNowControl } from '../servicenow/control/control.js'

/** A TCP connection that a port of the lab saw. */
export type LabConnection = Readonly<Arrival>

/** A deployment of the search-cluster service: `main` is the lab's cluster. */
export interface Deployment {
  readonly name: string
  readonly url: string
  readonly httpUrl: string
}

/** Changes and inspects a running lab. */
export interface Control {
  /** Replaces every IP filter policy with a preset. */
  register(which: Register): void
  /** Throws PolicyError for a rule that is neither an IPv4 address nor a CIDR block. The policy is created unattached. */
  createPolicy(policy: NewPolicy): Policy
  policies(): readonly Policy[]
  /** Replaces a policy's rules. */
  replaceRules(id: string, rules: readonly string[]): Policy
  /** `deployment` defaults to `main`. */
  attachPolicy(id: string, deployment?: string): Policy
  detachPolicy(id: string, deployment?: string): Policy
  deletePolicy(id: string): void
  /** Makes a new, empty cluster with its own ports. Default policies attach to it. Its keys are those of `main`. */
  createDeployment(name: string): Promise<Deployment>
  /**
   * Makes a data stream of `main` with one index and returns the index's name. `timeSeries`: the data stream makes
   * the ids itself.
   */
  createDataStream(name: string, timeSeries?: boolean): string
  /** Adds an index to the data stream for all further writes, and returns its name. */
  rollOver(stream: string): string
  /** Plants more faults. If a fault is already planted, its schedule starts again. */
  plant(faults: Faults): void
  faults(): Faults
  /** How often a fault struck since it was planted. */
  struck(fault: keyof Faults): number
  /** Takes every fault away. */
  heal(): void
  /** How the IP filter words its refusal: both documented bodies, or plain text. */
  setFilterBody(body: FilterBody): void
  /** Sets `http.max_content_length`. A longer body gets 413. */
  setMaxContentBytes(bytes: number): void
  /** A new proxy password: the line has it. */
  rotateCredentials(): LabLine
  /** A new API key of the cluster: the line has it. */
  rotateApiKey(): LabLine
  /**
   * Leaves the API key these privileges of the indices whose names begin so, and `monitor` of the cluster. Undefined:
   * gives all privileges back.
   */
  limitApiKey(rights?: { readonly prefix: string; readonly privileges: readonly string[] }): void
  /** Connections since the start or the last `forgetConnections`, in the order in which they came. */
  connections(): readonly LabConnection[]
  forgetConnections(): void
  /** Requests that somebody refused, with the reason: the last thousand since the start or `forgetRefusals`. */
  refusals(): readonly LabRefusal[]
  forgetRefusals(): void
  /** Whether the IP filter of `main` lets an address through. */
  allows(address: string): boolean
  /** Indices of `main` with their numbers of documents. Bypasses the filter. */
  indices(): readonly { readonly name: string; readonly documents: number }[]
  /** Counts documents in an index or data stream of `main`, 0 if missing. Bypasses the filter. */
  count(index: string): number
  /** The ids of an index of `main`, in the order in which they were first stored. */
  ids(index: string): readonly string[]
  /** Returns a document as the cluster keeps it, byte for byte. Bypasses the filter. */
  source(index: string, id: string): Buffer | undefined
  /**
   * Stores documents as JSON texts by their ids, in an index of the other cluster, or of `main` if the lab plays only one. Makes the
   * index if it is missing, with the mapping if there is one. Bypasses the filter.
   */
  store(index: string, documents: ReadonlyMap<string, string>, mappings?: Readonly<Record<string, unknown>>): void
  /** The inbound entry. */
  readonly inbound: InboundControl
  /** The queue of the managed ingest endpoint. */
  readonly managed: ManagedControl
  line(): LabLine
  /** The service-management platform. */
  readonly servicenow: ServiceNowControl
}

export interface InboundControl {
  /** Forwards further connections to the application at this port of this machine. Undefined: closes them at once. */
  forwardTo(port: number | undefined): void
  readonly applicationPort: number | undefined
}

export interface ControlParts {
  readonly arrivals: Arrival[]
  readonly credentials: Credentials
  readonly faults: FaultPlan
  readonly policies: Policies
  readonly refusals: Refusals
  readonly main: Cluster
  readonly other: Cluster | undefined
  readonly servicenow: ServiceNowControl
  readonly inbound: Inbound
  readonly managed: ManagedControl
  readonly line: () => LabLine
  readonly newDeployment: (name: string) => Promise<Deployment>
}

export function createControl({
  arrivals,
  credentials,
  faults,
  policies,
  refusals,
  main,
  other = main,
  servicenow,
  inbound,
  managed,
  line,
  newDeployment,
}: ControlParts): Control {
  return {
    register: which => register(policies, which, main.deployment),
    createPolicy: policy => policies.create(policy),
    policies: () => policies.list(),
    replaceRules: (id, rules) => policies.replaceRules(id, rules),
    attachPolicy: (id, deployment = main.deployment) => policies.attach(id, deployment),
    detachPolicy: (id, deployment = main.deployment) => policies.detach(id, deployment),
    deletePolicy: id => policies.delete(id),
    createDeployment: newDeployment,
    createDataStream: (name, timeSeries) => main.createStream(name, timeSeries).name,
    rollOver: stream => main.rollOver(stream).name,
    plant: more => faults.plant(more),
    faults: () => faults.current,
    struck: fault => faults.struck(fault),
    heal: () => faults.clear(),
    setFilterBody(body) {
      main.filterBody = body
    },
    setMaxContentBytes(bytes) {
      main.maxContentBytes = bytes
    },
    rotateCredentials() {
      credentials.rotate()
      return line()
    },
    rotateApiKey() {
      main.security.rotateApiKey()
      return line()
    },
    limitApiKey(rights) {
      const { prefix = '', privileges } = rights ?? {}
      const limits = privileges && { pattern: new RegExp(`^${prefix}`), privileges: new Set(privileges) }
      main.security.limitApiKey(limits)
    },
    connections: () => arrivals.map(arrival => ({ ...arrival })),
    forgetConnections: () => void arrivals.splice(0),
    refusals: () => refusals.list(),
    forgetRefusals: () => refusals.clear(),
    allows: address => policies.allows(main.deployment, address),
    indices: () => [...main.indices.values()].map(({ name, count }) => ({ name, documents: count })),
    count: index => main.matching(index).found.reduce((sum, { count }) => sum + count, 0),
    ids: index => main.named(index)?.ids() ?? [],
    source: (index, id) => main.named(index)?.get(id)?.bytes,
    store(name, documents, mappings) {
      const index = other.named(name) ?? newIndex(other, name, mappings)
      for (const [id, text] of documents) {
        const bytes = Buffer.from(text)
        index.put(id, bytes, 0, bytes.length)
      }
    },
    inbound,
    managed,
    line,
    servicenow,
  }
}

function newIndex(cluster: Cluster, name: string, mappings: unknown): Index {
  const index = cluster.create(name)
  extendMapping(index.mapping, mappings)
  return index
}
