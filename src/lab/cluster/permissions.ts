import type { ServerResponse } from 'node:http'
import { because } from '../refusals.js'
import { answer } from './answers.js'

/** A user or API key of the cluster. */
export interface Principal {
  readonly username: string
  readonly apiKey?: { readonly id: string; readonly name: string }
  /** Privileges of the principal by index. Absent: all. */
  readonly indexPrivileges?: IndexPrivileges
  /** If those are limited: privileges of the whole cluster. Absent: none. */
  readonly clusterPrivileges?: ReadonlySet<string>
}

interface IndexPrivileges {
  readonly pattern: RegExp
  readonly privileges: ReadonlySet<string>
}

/** The name of an action in refusals, and the privileges that grant the action. */
export interface Permission {
  readonly action: string
  readonly cluster?: readonly string[]
  readonly index?: readonly string[]
}

/** Permissions that the lab's routes require. */
export const permissions = {
  main: { action: 'cluster:monitor/main', cluster: ['monitor', 'manage', 'all'] },
  health: { action: 'cluster:monitor/health', cluster: ['monitor', 'manage', 'all'] },
  count: { action: 'indices:data/read/search', index: ['read', 'all'] },
  search: { action: 'indices:data/read/search', index: ['read', 'all'] },
  point: { action: 'indices:data/read/open_point_in_time', index: ['read', 'all'] },
  get: { action: 'indices:data/read/get', index: ['read', 'all'] },
  stats: { action: 'indices:monitor/stats', index: ['monitor', 'manage', 'all'] },
  refresh: { action: 'indices:admin/refresh', index: ['maintenance', 'manage', 'all'] },
  create: { action: 'indices:admin/create', index: ['create_index', 'manage', 'all'] },
  simulate: {
    action: 'indices:data/write/simulate/bulk',
    index: ['create_doc', 'create', 'index', 'write', 'all'],
  },
  template: { action: 'indices:admin/index_template/put', cluster: ['manage_index_templates', 'manage', 'all'] },
  pipeline: { action: 'cluster:admin/ingest/pipeline/put', cluster: ['manage_ingest_pipelines', 'manage', 'all'] },
  delete: { action: 'indices:admin/delete', index: ['delete_index', 'manage', 'all'] },
  rollover: { action: 'indices:admin/rollover', index: ['manage', 'all'] },
  settings: { action: 'indices:admin/settings/update', index: ['manage', 'all'] },
  mapping: { action: 'indices:admin/mapping/put', index: ['manage', 'all'] },
  aliases: { action: 'indices:admin/aliases', index: ['manage', 'all'] },
  view: { action: 'indices:admin/get', index: ['view_index_metadata', 'manage', 'all'] },
  bulk: { action: 'indices:data/write/bulk[s]', index: ['create_doc', 'create', 'delete', 'index', 'write', 'all'] },
} as const satisfies Record<string, Permission>

/** Returns whether a principal has a permission, for an index if the permission concerns one. */
export function isAllowed(
  { indexPrivileges, clusterPrivileges }: Principal,
  { index: privileges, cluster = [] }: Permission,
  index?: string,
): boolean {
  if (!indexPrivileges || cluster.some(privilege => clusterPrivileges?.has(privilege))) return true
  if (!privileges || index === undefined || !indexPrivileges.pattern.test(index)) return false
  return privileges.some(privilege => indexPrivileges.privileges.has(privilege))
}

/** Whether a principal has a permission for any index. */
export function isAllowedSomewhere({ indexPrivileges }: Principal, { index = [] }: Permission): boolean {
  return !indexPrivileges || index.some(privilege => indexPrivileges.privileges.has(privilege))
}

/** Why not, in the words of the cluster. */
export function deniedReason(
  { username, apiKey }: Principal,
  { action, cluster, index: privileges }: Permission,
  index?: string,
): string {
  const who = apiKey ? `API key id [${apiKey.id}] of user [${username}]` : `user [${username}]`
  const where = index === undefined ? '' : ` on indices [${index}]`
  const granted = cluster
    ? `cluster privileges [${cluster.join(',')}]`
    : `index privileges [${(privileges ?? []).join(',')}]`
  return `action [${action}] is unauthorized for ${who}${where}, this action is granted by the ${granted}`
}

/** Refuses for want of a privilege. The security layer's answers lack x-elastic-product. */
export function answerDenied(
  response: ServerResponse,
  principal: Principal,
  permission: Permission,
  index?: string,
): void {
  const error = { type: 'security_exception', reason: deniedReason(principal, permission, index) }
  because(response, error.reason)
  answer(response, 403, JSON.stringify({ error: { root_cause: [error], ...error }, status: 403 }), { product: false })
}

/** `_security/user/_has_privileges` */
export function hasPrivileges(principal: Principal, asked: unknown): Record<string, unknown> {
  const { cluster = [], index = [] } = asked as {
    cluster?: string[]
    index?: { names: string | string[]; privileges: string[] }[]
  }
  const answers = { all: true }
  const tell = (has: boolean): boolean => {
    answers.all &&= has
    return has
  }
  const onCluster = Object.fromEntries(
    cluster.map(privilege => [privilege, tell(isAllowed(principal, { action: '', cluster: [privilege] }))]),
  )
  const onIndex: Record<string, Record<string, boolean>> = {}
  for (const { names, privileges } of index) {
    for (const name of [names].flat()) {
      const has = (privilege: string): boolean => tell(isAllowed(principal, { action: '', index: [privilege] }, name))
      onIndex[name] = { ...onIndex[name], ...Object.fromEntries(privileges.toSorted().map(p => [p, has(p)])) }
    }
  }
  return {
    username: principal.username,
    has_all_requested: answers.all,
    cluster: onCluster,
    index: onIndex,
    application: {},
  }
}
