import { invalid } from './candidate.js'
import type { Effective } from './resolve.js'
import type { OptionName } from './table.js'
import { viewOption } from './view.js'

const how: Partial<Record<OptionName, string>> = {
  url: "the cluster's endpoint is not known: set --url https://HOST:PORT, ELASTICSEARCH_URL, or --cloud-id",
  deployment:
    'the deployment is not known: set --deployment ID or SLUICE_DEPLOYMENT; the id is in the URL of its page in the console',
  staticIps:
    "the static addresses are not known: set STATIC_IPS to the dashboard's pair, as in 203.0.113.10,203.0.113.11",
  index: 'where to load the documents is not known: set --index NAME or SLUICE_INDEX, or --swap-alias NAME',
}

/** Asks for options that a command cannot do without. Throws SluiceError OPTION_INVALID with what to set. */
export function requireOptions(
  effective: Effective,
  names: readonly ('url' | 'index' | 'deployment' | 'staticIps')[],
): void {
  for (const name of names) {
    if (effective.values[name] === undefined) throw invalid(viewOption(name).flag ?? name, how[name] ?? 'is not set')
  }
}
