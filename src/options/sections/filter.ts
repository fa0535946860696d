import * as kinds from '../kinds.js'
import { section } from '../option.js'

const filter = section('Filter administration', ['filter'])

export const filterOptions = {
  adminUrl: filter(kinds.webAddress().prefault('https://api.elastic-cloud.com'), {
    doc: "address of the hosting service's administration API; asked directly, never through the proxy",
    label: 'url',
    secret: 'url',
  }),
  adminKey: filter(kinds.secret().optional(), {
    doc: 'API key of the organisation, not of the cluster; better in the environment or a file',
    label: 'key',
    env: ['EC_API_KEY'],
    secret: 'value',
  }),
  adminKeyFile: filter(kinds.text().optional(), { doc: 'file that holds that key', label: 'file' }),
  deployment: filter(kinds.text().optional(), {
    doc: 'id of the deployment, as in the URL of its page in the console',
    label: 'id',
  }),
  policy: filter(kinds.text().optional(), {
    doc: 'IP filter policy, by id or name; create: its name, if not set `static addresses`',
    label: 'id|name',
  }),
  region: filter(kinds.text().optional(), {
    doc: 'region of a policy that is created; if not set, that of the deployment',
    label: 'region',
  }),
}
