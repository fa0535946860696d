import type { Refused } from '../../../src/base/flow.js'
import { Records, type Stamp } from '../../../src/pipeline/ledger/dead-letter-record.js'

/** Returns the line that the dead letters hold for a rejected document. */
export function record(refused: Refused, stamp: Stamp | undefined): Buffer {
  const records = new Records(stamp)
  records.add(refused)
  return Buffer.from(records.take())
}
