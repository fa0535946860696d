/** The doctor with longer limits of time: a test may not fail because the machine is slow. */
import * as doctor from '../../../src/programs/doctor/diagnose.js'

const PATIENCE = 8

export const diagnose: typeof doctor.diagnose = async (options, tools) =>
  await doctor.diagnose(options, { patience: PATIENCE, ...tools })

export const diagnoseRefusal: typeof doctor.diagnoseRefusal = async (refusal, options, tools) =>
  await doctor.diagnoseRefusal(refusal, options, { patience: PATIENCE, ...tools })
