/** The bytes that one connection of a job may carry. It takes more when it needs them, and gives back what it did not use. */
import { type Failure, SluiceError } from '../../../base/failure/failure.js'
import type { OpenConnection } from '../../../run/loop/hooks.js'
import { ByteBudget } from '../../../route/sender/layers/limits.js'
import type { SharedBytes } from './shared-bytes.js'

type Route = Pick<OpenConnection['cluster']['route'], 'traffic'>

/** The most bytes of a fresh connection: TLS in two layers, with the certificates of both, and one small request. */
export const CONNECTION_BYTES = 24 << 10
/** Stays reserved for the end of a connection. */
const CLOSING_BYTES = 1 << 10
/** More than one request at a time is taken from the job, because each taking costs two requests to the queue. */
const AHEAD = 2

export class BudgetShare {
  readonly #budget: SharedBytes
  #held: number
  /** Also those of attempts that failed, and of the address check. */
  readonly #routes = new Set<Route>()
  #counted = 0
  /** The bytes of each connection so far. */
  #overhead = 0
  #term: number | undefined
  /** The bytes of the previous term: how many were unused and used when the term changed. */
  #former = { term: undefined as number | undefined, unused: 0, used: 0 }

  private constructor(budget: SharedBytes, held: number, term: number | undefined) {
    this.#budget = budget
    this.#held = held
    this.#term = term
  }

  /** Takes what opening a route costs, before it is open. Throws SluiceError BYTE_BUDGET_SPENT, PLAN_SPENT. */
  static async open(budget: SharedBytes, connections: number, more = 0): Promise<BudgetShare> {
    const needed = Math.max(1, connections) * CONNECTION_BYTES + CLOSING_BYTES + more
    const { term } = budget
    const held = await budget.take(needed, needed)
    if (held === 0) throw new SluiceError(budget.spent(needed, true))
    return new BudgetShare(budget, held, term)
  }

  /**
   * Counts what the route carries from now on. What the routes before it have carried is taken once more, because a route that follows an
   * attempt that failed needs as much. Throws SluiceError BYTE_BUDGET_SPENT, PLAN_SPENT.
   */
  watch(route: Route): void {
    const carried = this.#count()
    if (carried > this.#budget.left) throw new SluiceError(this.#budget.spent(carried, true))
    this.#budget.give(-carried)
    this.#routes.add(route)
  }

  /** The route is open. */
  opened(route: Route): void {
    this.#routes.add(route)
    const bytes = this.#count()
    this.#held -= bytes
    this.#overhead = Math.ceil(bytes / Math.max(1, route.traffic.connections))
  }

  /** Keeps one run over the route within the budget. Runs follow one another. */
  limit(end: (why: () => Failure) => void): ByteBudget {
    const held = () => this.#held
    const reach = () => this.#held + this.#budget.left
    return new ByteBudget({
      get limit() {
        return held()
      },
      get reach() {
        return reach()
      },
      used: () => this.#used,
      overhead: this.#overhead,
      raise: async missing => {
        this.#renew()
        const bytes = await this.#budget.take(Math.ceil(missing) * AHEAD, Math.ceil(missing))
        this.#held += bytes
        return bytes > 0
      },
      onSpent: ({ needed }) => end(() => this.#budget.spent(needed, false)),
    })
  }

  /** Gives back what the route did not use. It may be used again. */
  settle(): void {
    this.#return(CLOSING_BYTES)
  }

  /** Gives back all that the route did not use. It is closed, or could not be opened. */
  close(): void {
    this.#return(0)
  }

  /** Gives back all but `kept`, to the term of which it is. Bytes of the earlier term are used first. */
  #return(kept: number): void {
    this.#renew()
    const used = this.#count()
    this.#held -= used
    const { term, unused, used: before } = this.#former
    const bytes = this.#held - kept
    const former = Math.max(0, Math.min(bytes, unused - (used - before)))
    if (former > 0) this.#budget.give(former, term)
    this.#budget.give(bytes - former)
    this.#held = kept
    this.#former = { term: undefined, unused: 0, used: 0 }
  }

  /** Notes what it holds if another term begins. */
  #renew(): void {
    const { term } = this.#budget
    if (term === this.#term) return
    const used = this.#used
    this.#former = { term: this.#term, unused: Math.max(0, this.#held - used), used }
    this.#term = term
  }

  /** Bytes that are not counted yet. */
  get #used(): number {
    let sum = 0
    for (const { traffic } of this.#routes) sum += traffic.bytesSent + traffic.bytesReceived
    return sum - this.#counted
  }

  #count(): number {
    const bytes = this.#used
    this.#counted += bytes
    return bytes
  }
}
