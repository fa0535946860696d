import {
  BadRequest,
  type Body,
  flag,
  list,
  number,
  oneOf,
  only,
  optionalText,
  text,
} from '../../control/body-values.js'
import type { Control } from '../../control/control.js'
import { guardedApis, serviceNowRegisters } from '../access.js'
import type { AclRule, BusinessRule } from '../acl.js'
import type { AddressRange, AddressRule } from '../address-rules.js'
import type { Values } from '../database.js'
import type { TableShape } from '../dictionary.js'
import { serviceNowFaultNames } from '../faults.js'
import type { RateLimitRule } from '../rate-limit.js'
import type { ServiceNowControl } from './control.js'

type Handler = (control: Control, body: Body, parameters: readonly string[]) => unknown
type Own = (servicenow: ServiceNowControl, body: Body, parameters: readonly string[]) => unknown

/** The operations of the service-management platform, below /servicenow. */
const routes: Readonly<Record<string, Own>> = {
  'POST /tables': (sn, { name, ...shape }) => sn.createTable(text('name', name), newShape(shape)),
  'POST /tables/*/seed': (sn, { count, ...seed }, [table = '']) => sn.seed(table, number('count', count), seed),
  'GET /tables/*/count': (sn, _, [table = '']) => ({ count: sn.count(table) }),
  'GET /tables/*/rows': (sn, _, [table = '']) => sn.rows(table),
  'POST /tables/*/search': (sn, { query }, [table = '']) => sn.rows(table, optionalText('query', query)),
  'POST /tables/*/rows': (sn, body, [table = '']) => sn.insert(table, newValues(body)),
  'GET /tables/*/rows/*': (sn, _, [table = '', id = '']) => sn.row(table, id) ?? null,
  'PATCH /tables/*/rows/*': (sn, body, [table = '', id = '']) => sn.update(table, id, newValues(body)),
  'DELETE /tables/*/rows/*': (sn, _, [table = '', id = '']) => sn.delete(table, id),
  'POST /tables/*/rows/*/attachments': (sn, { fileName, content, isDenied }, [table = '', id = '']) =>
    sn.attach(table, id, {
      fileName: text('fileName', fileName),
      content: text('content', content),
      isDenied: isDenied === true,
    }),
  'POST /tables/*/restore': (sn, body, [table = '']) => sn.restore(table, newValues(body)),

  'PUT /register': (sn, { which }) => sn.register(oneOf(serviceNowRegisters, which)),
  'GET /address-rules': sn => sn.addressRules(),
  'POST /address-rules': (sn, body) => sn.addAddressRule(newRule(body)),
  'DELETE /address-rules': (sn, body) => sn.deleteAddressRule(newRule(body)),
  'POST /address-rules/deny-all': sn => sn.denyAll(),
  'PUT /administrator': (sn, { address }) => sn.setAdministratorAddress(text('address', address)),
  'PUT /access-policies/*': (sn, { ranges }, [api]) => sn.setAccessPolicy(oneOf(guardedApis, api), newRanges(ranges)),
  'DELETE /access-policies/*': (sn, _, [api]) => sn.setAccessPolicy(oneOf(guardedApis, api), undefined),
  'PUT /adaptive-authentication': (sn, { ranges, status }) =>
    sn.setAdaptiveAuthentication(newRanges(ranges), status === 403 ? 403 : 401),
  'DELETE /adaptive-authentication': sn => sn.setAdaptiveAuthentication(undefined),

  'PUT /users/*': (sn, { password }, [username = '']) => sn.setUser(username, text('password', password)),
  'PATCH /users/*': (sn, body, [username = '']) =>
    sn.changeUser(username, only('change', ['active', 'lockedOut'], body)),
  'GET /api-key': sn => ({ apiKey: sn.apiKey() }),
  'PUT /basic': (sn, { isOn }) => sn.allowBasic(flag('isOn', isOn)),
  'PUT /client-credentials': (sn, { isOn }) => sn.allowClientCredentials(flag('isOn', isOn)),
  'GET /clients': sn => sn.clients(),
  'PATCH /clients/*': (sn, body, [id = '']) => sn.changeClient(id, body),
  'PUT /refresh-token-rotation': (sn, { isOn }) => sn.rotateRefreshTokens(flag('isOn', isOn)),
  'POST /tokens/revoke': (sn, { kind, username }) =>
    sn.revokeTokens(oneOf(['access', 'refresh'], kind), optionalText('username', username)),
  'PATCH /browser': (sn, body) => sn.setBrowser(only('change', ['username', 'asksLogin', 'consents'], body)),

  'POST /acls': (sn, { table, ...rule }) => sn.addAcl({ ...(rule as Partial<AclRule>), table: text('table', table) }),
  'POST /business-rules': (sn, { table, name, ...rule }) =>
    sn.addBusinessRule({ ...(rule as Partial<BusinessRule>), table: text('table', table), name: text('name', name) }),
  'DELETE /rules': sn => sn.clearRules(),
  'PUT /data-policy': (sn, { isOn }) => sn.setDataPolicy(flag('isOn', isOn)),
  'PUT /invalid-query-means-nothing': (sn, { isOn }) => sn.setInvalidQueryMeansNothing(flag('isOn', isOn)),

  'GET /clock': sn => ({ now: sn.now() }),
  'PUT /clock': (sn, { time, frozen }) => sn.setClock(text('time', time), frozen === true),
  'DELETE /clock': sn => sn.setClock(undefined),
  'POST /clock/advance': (sn, { ms }) => sn.advanceClock(number('ms', ms)),
  'PUT /hibernation': (sn, { how }) => sn.hibernate(oneOf(['page', 'redirect'], how)),
  'DELETE /hibernation': sn => sn.hibernate(undefined),
  'PUT /rate-limit': (sn, { requests, ...rule }) =>
    sn.limitRate({ ...(rule as Partial<RateLimitRule>), requests: number('requests', requests) }),
  'DELETE /rate-limit': sn => sn.limitRate(undefined),
  'GET /faults': sn => sn.faults(),
  'POST /faults': (sn, body) => sn.plant(only('fault', serviceNowFaultNames, body)),
  'GET /faults/*/struck': (sn, _, [fault]) => ({ struck: sn.struck(oneOf(serviceNowFaultNames, fault)) }),
  'DELETE /faults': sn => sn.heal(),

  'GET /requests': sn => sn.requests(),
  'DELETE /requests': sn => sn.forgetRequests(),
}

export const serviceNowRoutes: Readonly<Record<string, Handler>> = Object.fromEntries(
  Object.entries(routes).map(([route, act]) => {
    const handler: Handler = (control, body, parameters) => act(control.servicenow, body, parameters)
    return [route.replace(' ', ' /servicenow'), handler]
  }),
)

function newShape({ fields, ...shape }: Body): TableShape {
  if (typeof fields !== 'object' || fields === null) throw new BadRequest('fields must be an object')
  return { ...(shape as Partial<TableShape>), fields: fields as TableShape['fields'] }
}

function newValues(body: Body): Values {
  return Object.fromEntries(Object.entries(body).map(([field, value]) => [field, String(value)]))
}

function newRule({ kind, ...range }: Body): AddressRule {
  return { kind: oneOf(['allow', 'deny'], kind), ...newRange(range) }
}

function newRanges(ranges: unknown): AddressRange[] {
  return list('ranges', ranges).map(range => newRange(range as Body))
}

function newRange({ from, to = from }: Body): AddressRange {
  return { from: text('from', from), to: text('to', to) }
}
