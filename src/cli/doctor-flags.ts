import type { DoctorOptions } from '../doctor/doctor-options.js'
import type { ServiceNowOptions } from '../index.js'
import type { Setting } from '../doctor/facts.js'
import type { ClusterAccess } from '../options/cluster-access.js'
import { nodeUrls } from '../options/urls.js'
import type { Effective } from '../options/resolve.js'
import { optionNames } from '../options/table.js'
import { connectOptions } from '../options/library-options.js'
import { shownOption } from '../options/view.js'

/** Returns the doctor's options from the user's settings. `servicenow`: set to check an instance. */
export function doctorOptions(
  effective: Effective,
  access: ClusterAccess,
  servicenow?: ServiceNowOptions,
  table?: string,
): DoctorOptions {
  const { index, op, nodes, noDirectCheck, writeCheck } = effective.values
  return {
    ...connectOptions(effective, access),
    servicenow,
    table,
    index,
    op,
    nodes: nodeUrls(nodes),
    directCheck: !noDirectCheck,
    writeCheck,
    settings: settingsOf(effective),
  }
}

/** Returns every option in force in a form that may be shown, with its source. */
function settingsOf({ values, origins }: Effective): Setting[] {
  return optionNames.flatMap(name => {
    const value = shownOption(name, values[name])
    if (value === undefined) return []
    return [{ name, value: typeof value === 'string' ? value : JSON.stringify(value), from: origins[name] }]
  })
}
