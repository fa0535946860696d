/** The bytes that one connection of a job may carry. It takes more from the job when it needs them, and gives back what it did not use. */
import { fail, type Failure, failure } from '../../../base/failure/failure.js'
import type { OpenConnection } from '../../../run/loop/hooks.js'
import { ByteBudget } from '../../../route/sender/layers/limits.js'
import type { JobBudget } from './job-budget.js'

type Route = Pick<OpenConnection['cluster']['route'], 'traffic'>

/** The most bytes of a fresh connection: TLS in two layers, with the certificates of both, and one small request. */
const CONNECTION_BYTES = 24 << 10
/** Stays reserved for the end of a connection. */
const CLOSING_BYTES = 1 << 10
/** More than one request at a time is taken from the job, because each taking costs two requests to the queue. */
const AHEAD = 2

export class BudgetShare {
  readonly #budget: JobBudget
  #held: number
  #route: Route | undefined
  #counted = 0
  /** The bytes of each connection so far. */
  #overhead = 0

  private constructor(budget: JobBudget, held: number) {
    this.#budget = budget
    this.#held = held
  }

  /** Takes what opening a route costs, before it is open. Throws SluiceError BYTE_BUDGET_SPENT. */
  static async open(budget: JobBudget, connections: number, more = 0): Promise<BudgetShare> {
    const needed = Math.max(1, connections) * CONNECTION_BYTES + CLOSING_BYTES + more
    const held = await budget.take(needed, needed)
    if (held === 0) throw fail('BYTE_BUDGET_SPENT', spentOf(budget, needed))
    return new BudgetShare(budget, held)
  }

  /** Counts what the route carries from now on. */
  watch(route: Route): void {
    this.#route = route
  }

  /** The route is open. */
  opened(route: Route): void {
    this.watch(route)
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
        const bytes = await this.#budget.take(Math.ceil(missing) * AHEAD, Math.ceil(missing))
        this.#held += bytes
        return bytes > 0
      },
      onSpent: ({ needed }) => end(() => failure('BYTE_BUDGET_SPENT', spentOf(this.#budget, needed))),
    })
  }

  /** Gives back what the route did not use. It may be used again. */
  settle(): void {
    this.#held -= this.#count()
    this.#budget.give(this.#held - CLOSING_BYTES)
    this.#held = CLOSING_BYTES
  }

  /** Gives back all that the route did not use. It is closed, or could not be opened. */
  close(): void {
    this.#held -= this.#count()
    this.#budget.give(this.#held)
    this.#held = 0
  }

  /** Bytes that are not counted yet. */
  get #used(): number {
    if (this.#route === undefined) return 0
    const { bytesSent, bytesReceived } = this.#route.traffic
    return bytesSent + bytesReceived - this.#counted
  }

  #count(): number {
    const bytes = this.#used
    this.#counted += bytes
    return bytes
  }
}

function spentOf({ limit, left }: JobBudget, needed: number) {
  return { budget: limit, used: limit - left, needed: Math.ceil(needed), settled: 0 }
}
