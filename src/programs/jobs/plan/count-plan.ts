/** Plans a job without a queue, to show what it would hold. */
import type { JobData, Planned } from '../job.js'
import { planRanges } from './plan-ranges.js'
import type { FoundInput } from '../../../features/ranges/range-load.js'

export interface CountedPlan extends Planned {
  /** Ranges that hold small inputs, or one that cannot be cut. */
  readonly groups: number
}

/** `find`: finds the inputs behind a name. Throws SluiceError INPUT_NOT_FOUND, INPUT_UNREADABLE, SOURCE_*. */
export async function countPlan(
  data: JobData,
  find: (name: string, cutFrom: number) => AsyncIterable<FoundInput>,
): Promise<CountedPlan> {
  let plan: CountedPlan = { objects: 0, ranges: 0, groups: 0, bytes: 0 }
  for await (const { begins, bytes, inputs } of planRanges(data, find))
    plan = {
      objects: plan.objects + begins,
      ranges: plan.ranges + 1,
      groups: plan.groups + (inputs.every(({ from }) => from === undefined) ? 1 : 0),
      bytes: plan.bytes + bytes,
    }
  return plan
}
