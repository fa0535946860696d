/** Limits what a load sends: bytes of the run, bytes and documents per second, and the proxy's monthly plan. */
import { type Failure, failure, SluiceError } from '../../base/failure/failure.js'
import type { ConnectSection, StopSection, TrafficSection } from '../../options/load.js'
import type { Feature } from '../../run/loop/hooks.js'
import { ByteBudget, type Spent, TokenBucket } from '../../route/sender/layers/limits.js'
import { systemClock } from '../../base/time/clock.js'
import { openUnspentPlan, type PlanUse } from './traffic-plan/plan-use.js'

interface LimitedLoad {
  readonly stopping: Pick<StopSection, 'byteBudget'>
  readonly traffic: TrafficSection
  readonly connecting: Pick<ConnectSection, 'proxy'>
}

/** The limits that all loads over one connection share. */
export interface SharedLimits {
  readonly rates: readonly TokenBucket[]
  /** The plan, while a load runs. */
  plan?: PlanUse
}

/** Returns limits for all loads over one connection. `share`: bytes per second that a plan of many processes leaves for it. */
export function sharedLimits({ maxRate, plan, planLimit }: TrafficSection, share?: () => number): SharedLimits {
  const rates: TokenBucket[] = []
  const limits: SharedLimits = { rates }
  if (maxRate !== undefined) {
    const [counts, limit] =
      'bytes' in maxRate ? (['bytes', maxRate.bytes] as const) : (['documents', maxRate.documents] as const)
    rates.push(new TokenBucket({ counts, perSecond: () => limit, clock: systemClock }))
  }
  const isSlow = plan !== undefined && (planLimit === 'slow' || (typeof planLimit === 'object' && 'slow' in planLimit))
  const perSecond = () => limits.plan?.perSecond ?? Infinity
  if (isSlow) rates.push(new TokenBucket({ counts: 'bytes', perSecond, clock: systemClock }))
  if (share !== undefined) rates.push(new TokenBucket({ counts: 'bytes', perSecond: share, clock: systemClock }))
  return limits
}

/** Keeps a load within its limits. `stateDir`: where Sluice counts for the plan. Throws SluiceError PLAN_SPENT, STATE_UNWRITABLE. */
export function limitTraffic(load: LimitedLoad, limits: SharedLimits, stateDir: string | undefined): Feature {
  return async ({ stop }) => {
    const { byteBudget } = load.stopping
    const plan = await openUnspentPlan(load, stateDir)
    if (plan !== undefined) limits.plan = plan.use
    if (byteBudget === undefined && plan === undefined && limits.rates.length === 0) return undefined
    let used = () => 0
    let budget: ByteBudget | undefined
    return {
      connected: ({ route }) => {
        used = () => route.traffic.bytesSent + route.traffic.bytesReceived
        for (const bucket of limits.rates) bucket.meter(used)
        const end = (why: (settled: number) => Failure) => stop.end(why)
        budget = openBudget({ byteBudget, plan: plan?.use, used, connections: route.traffic.connections, end })
        return undefined
      },
      get sending() {
        return { rates: limits.rates, ...(budget === undefined ? {} : { budget }) }
      },
      progress: () => (byteBudget === undefined ? {} : { wire: { bytes: used(), budget: byteBudget } }),
      receipt: () => (plan === undefined ? {} : { plan: plan.use.receipt() }),
      dispose: async () => await Promise.resolve(plan?.[Symbol.dispose]()),
    }
  }
}

/**
 * One request for the index, one for documents, and a reserve for the end of the run. Each counts like a request of
 * the preflight.
 */
const FIRST_REQUESTS = 3

interface Budgeting {
  readonly byteBudget: number | undefined
  readonly plan: PlanUse | undefined
  /** Returns the bytes on the wire so far. */
  used(): number
  readonly connections: number
  end(why: (settled: number) => Failure): void
}

/**
 * Opens the budget after the preflight: what its connections took is the measure for those to come. Undefined: nothing limits the run.
 * Throws SluiceError OPTION_INVALID for a limit that no request fits into, PLAN_SPENT.
 */
function openBudget({ byteBudget = Infinity, plan, used, connections, end }: Budgeting): ByteBudget | undefined {
  const planLeft = () => plan?.left ?? Infinity
  if (byteBudget === Infinity && planLeft() === Infinity) return undefined
  const overhead = Math.ceil(used() / Math.max(1, connections))
  refuseTooLittle(byteBudget, used(), overhead)
  if (plan !== undefined && plan.left < FIRST_REQUESTS * overhead) throw new SluiceError(plan.spent())
  return new ByteBudget({
    get limit() {
      return Math.min(byteBudget, used() + planLeft())
    },
    used,
    overhead,
    onSpent: ({ isFirst, ...spent }) =>
      end(settled => {
        if (plan !== undefined && plan.left < byteBudget - used())
          return isFirst ? plan.spent() : plan.reached(spent.needed, settled)
        return isFirst
          ? neverEnough(byteBudget, spent, overhead)
          : failure('BYTE_BUDGET_SPENT', { budget: byteBudget, ...spent, settled })
      }),
  })
}

/** Throws SluiceError OPTION_INVALID if no other process of the run would come further either. */
function refuseTooLittle(limit: number, used: number, connectionBytes: number): void {
  const least = used + FIRST_REQUESTS * connectionBytes
  if (limit < least) throw new SluiceError(tooSmall(limit, `the first checks used ${bytes(used)}`, least))
}

/** The failure of a run whose first request does not fit: the next one would be that of every other run too. */
function neverEnough(limit: number, { used, needed }: Omit<Spent, 'isFirst'>, connectionBytes: number): Failure {
  const why = `the first checks used ${bytes(used)}, and the first request needs ${bytes(needed)}`
  return tooSmall(limit, why, used + needed + connectionBytes)
}

function tooSmall(limit: number, why: string, least: number): Failure {
  // The next preflight may take a little more.
  const enough = Math.ceil((least * 1.1) / 1000) * 1000
  const problem = `${bytes(limit)} bytes is too small: ${why}. Set at least ${bytes(enough)}`
  return failure('OPTION_INVALID', { option: 'byteBudget', problem })
}

function bytes(count: number): string {
  return count.toLocaleString('en-US')
}
