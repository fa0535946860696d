/** Connections to servers of objects, and what S3 says of its buckets: of one load, or of several that follow each other. */
import type { Buckets } from './buckets.js'
import { type RouteSettings, SourceRoutes } from './routes.js'

/** Keeps servers open between loads. The code that makes it closes them. */
export interface KeptServers {
  open?: SourceServers
}

export class SourceServers {
  readonly routes: SourceRoutes
  #buckets: Promise<Buckets> | undefined

  constructor(settings: RouteSettings) {
    this.routes = new SourceRoutes(settings)
  }

  /** `open`: loads code that most loads do not need. Throws what it throws. */
  async buckets(open: (routes: SourceRoutes) => Promise<Buckets>): Promise<Buckets> {
    this.#buckets ??= open(this.routes)
    return await this.#buckets
  }

  async close(): Promise<void> {
    await this.routes.close()
  }
}
