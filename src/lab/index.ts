/**
 * `sluice/lab` for tests and trials: static-IP proxy, egress check, cluster with IP filter, and service-management
 * platform in one process.
 */
export type { ClusterVersion } from './cluster/version.js'
export type { Control, Deployment, InboundControl, LabConnection } from './control/control.js'
export type { Pick } from './egress.js'
export type { Faults, Schedule } from './faults.js'
export type { FilterBody } from './filter/edge.js'
export { type NewPolicy, type Policy, PolicyError } from './filter/policies.js'
export { type Register, registers } from './filter/presets.js'
export { type Lab, type LabOptions, startLab } from './lab.js'
export type { LabLine } from './lab-line.js'
export type { ManagedControl } from './managed/queue.js'
export { type ServiceNowRegister, serviceNowRegisters } from './servicenow/access.js'
export type { AclRule, BusinessRule } from './servicenow/acl.js'
export { type AddressRange, type AddressRule, AddressRuleError } from './servicenow/address-rules.js'
export type { ServiceNowControl } from './servicenow/control/control.js'
export type { Field, TableShape } from './servicenow/dictionary.js'
export type { ServiceNowFaults } from './servicenow/faults.js'
export type { OAuthClient } from './servicenow/registry.js'
export type { LoggedRequest } from './servicenow/request-log.js'
export type { Seed } from './servicenow/seed.js'
export type { Row } from './servicenow/row.js'
