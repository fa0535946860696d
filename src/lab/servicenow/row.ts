/** A row, never changed in place. Every value is a text, empty if there is none. */
export interface Row {
  readonly sys_id: string
  readonly sys_created_on: string
  readonly sys_updated_on: string
  readonly sys_mod_count: string
  readonly [field: string]: string
}
