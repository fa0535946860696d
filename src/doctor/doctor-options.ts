import type { Operation } from '../flow.js'
import type { ConnectOptions, ServiceNowOptions } from '../options/ingest-options.js'
import type { Setting } from './facts.js'

/**
 * The way to look at: the options of a load, and what to look at besides. With `servicenow` the way to the instance is looked at too,
 * and with a `target` that is empty it alone.
 */
export interface DoctorOptions extends ConnectOptions {
  /** Index, alias or data stream that will be loaded into: its privileges are looked at. Default: none are. */
  readonly index?: string | undefined
  /** Default `create`. */
  readonly op?: Operation | undefined
  /** The platform that tables are read from, through the same proxy. */
  readonly servicenow?: ServiceNowOptions | undefined
  /** The table that is read. Default: `incident`, and it is no finding where the user may not read it. */
  readonly table?: string | undefined
  /** URLs of the proxy's single nodes, to be asked each by itself: they tell which address is refused. */
  readonly nodes?: readonly string[] | undefined
  /** Ask GET / without the proxy and without credentials: whether the cluster answers, and how fast. Default true. */
  readonly directCheck?: boolean | undefined
  /** Write, read and delete one document in `index`. Default false. */
  readonly writeCheck?: boolean | undefined
  /** Every option in force and where it came from, for the report. */
  readonly settings?: readonly Setting[] | undefined
}
