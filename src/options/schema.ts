import { z } from 'zod'
import { alarmOptions } from './sections/alarm.js'
import { clusterOptions } from './sections/cluster.js'
import { doctorOptions } from './sections/doctor.js'
import { documentsOptions } from './sections/documents.js'
import { filterOptions } from './sections/filter.js'
import { guardedOptions } from './sections/guarded.js'
import { outputOptions } from './sections/output.js'
import { pathOptions } from './sections/path.js'
import { requestsOptions } from './sections/requests.js'
import { runsOptions } from './sections/runs.js'
import { servicenowOptions } from './sections/servicenow.js'
import { webhookOptions } from './sections/webhook.js'

/**
 * Every option: its kind and limits, its default as a person would write it, and what help says of it. Help and
 * docs/options.md keep this order. A name stands in one section alone: of two, the later would count.
 */
export const schema = z.object({
  ...clusterOptions,
  ...pathOptions,
  ...documentsOptions,
  ...requestsOptions,
  ...runsOptions,
  ...servicenowOptions,
  ...webhookOptions,
  ...alarmOptions,
  ...guardedOptions,
  ...doctorOptions,
  ...filterOptions,
  ...outputOptions,
})

export type OptionName = keyof typeof schema.shape

export const optionNames = Object.keys(schema.shape) as readonly OptionName[]
