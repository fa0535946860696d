/** The monthly plan of a proxy account, and how much of it all processes have used. */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { diskProblem, makeFolder } from '../../../base/disk/safe-files.js'
import { fail, type Failure, failure, SluiceError } from '../../../base/failure/failure.js'
import type { ProxySection, TrafficSection } from '../../../options/load.js'
import { accountOf, parseProxyUrl, trafficThrough } from '../../../route/proxy/proxy-url.js'
import type { PlanTraffic } from './forecast.js'
import { TrafficJournal } from './journal.js'
import { type Period, periodAt } from './period.js'
import { sayPlan } from './say-plan.js'

/** How often a process writes and reads what processes have used. */
const EVERY_MS = 1000
/** A process that is killed may lose this share of the plan. */
const UNWRITTEN_SHARE = 1 / 10_000
/** The bytes of a load's first checks, and their largest share of a plan. */
const START_BYTES = 100_000
const START_SHARE = 1 / 100

/** How much of the plan is used, at the end of a run. */
export interface PlanReceipt {
  /** Bytes of the plan, and bytes that all processes have used of it in this month. */
  readonly bytes: number
  readonly used: number
  /** The month of the plan, in ISO 8601. */
  readonly from: string
  readonly until: string
  /** The same and a forecast in plain English: `62 of 100 GB used, at this rate 80% on the 23rd`. */
  readonly says: string
}

declare module '../../../pipeline/ledger/receipt.js' {
  interface Receipt {
    /** Only if the run has a monthly plan and went through a proxy. */
    readonly plan?: PlanReceipt
  }
}

interface PlanOptions {
  readonly traffic: Pick<TrafficSection, 'planDay' | 'planLimit'> & { readonly plan: number }
  readonly journal: Pick<TrafficJournal, 'used' | 'since'>
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

export class PlanUse {
  readonly #options: PlanOptions

  constructor(options: PlanOptions) {
    this.#options = options
  }

  /** Bytes that all processes have used in this month. */
  get used(): number {
    return this.usedIn(this.period)
  }

  /** Bytes that all processes have used in a time. */
  usedIn(time: Period): number {
    return this.#options.journal.used(time)
  }

  /** Bytes that loads may still use. Infinity: nothing limits them. */
  get left(): number {
    return this.limit - this.used
  }

  /** Bytes per second, so that the rest of the plan lasts until the month ends. Infinity: as many as a load can send. */
  get perSecond(): number {
    const { traffic, now } = this.#options
    const { planLimit, plan } = traffic
    const from = planLimit === 'slow' ? 80 : typeof planLimit === 'object' && 'slow' in planLimit ? planLimit.slow : 0
    if (from === 0 || this.used < (plan * from) / 100) return Infinity
    return Math.max(0, plan - this.used) / ((this.period.until - now()) / 1000)
  }

  /** Throws SluiceError PLAN_SPENT if not even the first checks of a load fit. */
  refuseSpent(): void {
    const { plan } = this.#options.traffic
    if (this.left < Math.min(START_BYTES, plan * START_SHARE)) throw new SluiceError(this.spent())
  }

  spent(): Failure {
    const { plan } = this.#options.traffic
    const next = new Date(this.period.until).toISOString().slice(0, 10)
    return failure('PLAN_SPENT', { limit: this.limit, plan, used: this.used, next })
  }

  /** Returns why a load of some documents had to end. */
  reached(needed: number, settled: number): Failure {
    const { plan } = this.#options.traffic
    return failure('PLAN_LIMIT_REACHED', { limit: this.limit, plan, used: this.used, needed, settled })
  }

  receipt(): PlanReceipt {
    const { traffic, journal, now } = this.#options
    const { plan: bytes } = traffic
    const period = this.period
    const seen: PlanTraffic = { period, now: now(), bytes, since: journal.since, used: time => this.usedIn(time) }
    const iso = (at: number) => new Date(at).toISOString()
    return { bytes, used: this.used, from: iso(period.from), until: iso(period.until), says: sayPlan(seen) }
  }

  /** The month of the plan that is now. */
  get period(): Period {
    const { traffic, now } = this.#options
    return periodAt(now(), traffic.planDay)
  }

  /** Bytes that loads may use in a month. Infinity: nothing limits them. */
  get limit(): number {
    const { plan, planLimit } = this.#options.traffic
    if (planLimit === 'report') return Infinity
    return typeof planLimit === 'object' && 'stop' in planLimit ? Math.floor((plan * planLimit.stop) / 100) : plan
  }
}

/** Counts as long as somebody needs it. */
interface Counting {
  readonly journal: TrafficJournal
  readonly timer: NodeJS.Timeout
  users: number
}

const countings = new Map<string, Counting>()

export interface OpenPlan extends Disposable {
  readonly use: PlanUse
}

/**
 * Begins to count for the plan, in a file that other processes share. Returns undefined without a plan or a proxy. Throws SluiceError
 * STATE_UNWRITABLE.
 */
export async function openPlan(
  { plan, ...traffic }: TrafficSection,
  proxy: ProxySection,
  stateDir: string | undefined,
): Promise<OpenPlan | undefined> {
  const account = payerOf(proxy)
  if (plan === undefined || stateDir === undefined || account === undefined) return undefined
  const key = createHash('sha256').update(account).digest('hex').slice(0, 32)
  const folder = join(stateDir, 'plan', key)
  const counting = await count(folder, account, plan * UNWRITTEN_SHARE)
  counting.users += 1
  return {
    use: new PlanUse({ traffic: { ...traffic, plan }, journal: counting.journal, now: Date.now }),
    [Symbol.dispose]: () => {
      counting.users -= 1
      if (counting.users > 0) return
      clearInterval(counting.timer)
      countings.delete(folder)
      sync(counting.journal, true)
    },
  }
}

async function count(folder: string, account: string, worthWriting: number): Promise<Counting> {
  const meter = trafficThrough(account)
  const carried = () => meter.bytesSent + meter.bytesReceived
  try {
    await makeFolder(folder)
    const known = countings.get(folder)
    if (known !== undefined) return known
    const journal = new TrafficJournal({ folder, carried, worthWriting, now: Date.now })
    const counting = { journal, timer: setInterval(() => sync(journal), EVERY_MS), users: 0 }
    counting.timer.unref()
    countings.set(folder, counting)
    return counting
  } catch (error) {
    throw fail('STATE_UNWRITABLE', { path: folder, problem: diskProblem(error) }, { cause: error })
  }
}

/** Writes the journal. Entries that cannot be written now stay for the next time: a full disk must not end a load. */
function sync(journal: TrafficJournal, isEnd = false): void {
  try {
    journal.sync(isEnd)
  } catch {
    // Nothing is lost as long as the process lives.
  }
}

/** Returns who pays for the traffic. Undefined without a proxy. If its URL cannot be read, the connection reports that. */
export function payerOf({ url, environmentProxy, direct, origin }: ProxySection): string | undefined {
  const text = url ?? environmentProxy
  if (direct || text === undefined) return undefined
  try {
    return accountOf(parseProxyUrl(text, origin))
  } catch {
    return undefined
  }
}

/** Opens the plan, if there is one. Throws SluiceError PLAN_SPENT, STATE_UNWRITABLE. */
export async function openUnspentPlan(
  { traffic, connecting }: { readonly traffic: TrafficSection; readonly connecting: { readonly proxy: ProxySection } },
  stateDir: string | undefined,
): Promise<OpenPlan | undefined> {
  const plan = await openPlan(traffic, connecting.proxy, stateDir)
  try {
    plan?.use.refuseSpent()
    return plan
  } catch (error) {
    plan?.[Symbol.dispose]()
    throw error
  }
}
