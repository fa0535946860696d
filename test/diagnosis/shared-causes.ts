/** Causes that can be planted on both worlds: in the lab, and on real servers. In the order of the path. */
import { answerCauses } from './answer-causes.js'
import type { Cause } from './cause.js'
import { clusterCauses } from './cluster-causes.js'
import { filterCauses } from './filter-causes.js'
import { healthyCauses } from './healthy-causes.js'
import { instanceCauses } from './instance-causes.js'
import { machineCauses } from './machine-causes.js'
import { mixedCauses } from './mixed-causes.js'
import { proxyCauses } from './proxy-causes.js'
import { threadCauses } from './thread-causes.js'

export const sharedCauses: readonly Cause[] = [
  ...proxyCauses,
  ...mixedCauses,
  ...answerCauses,
  ...machineCauses,
  ...filterCauses,
  ...clusterCauses,
  ...threadCauses,
  ...healthyCauses,
  ...instanceCauses,
]
