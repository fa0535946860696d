/** One field in the platform's dictionary. */
export interface Field {
  readonly type: 'GUID' | 'string' | 'integer' | 'boolean' | 'glide_date_time' | 'journal_input' | 'reference'
  /** The table that a reference leads to. */
  readonly reference?: string
  /** What is shown for a value. */
  readonly choices?: Readonly<Record<string, string>>
  /** What a new row has. Default: nothing. */
  readonly initial?: string
}

export interface TableShape {
  /** Beside those that every table has. */
  readonly fields: Readonly<Record<string, Field>>
  /** The field that is shown for a reference to a row. Default `sys_id`. */
  readonly display?: string
  /** Rows are numbered: `INC` makes INC0010001. */
  readonly numberPrefix?: string
}

const string: Field = { type: 'string' }
const integer: Field = { type: 'integer' }
const time: Field = { type: 'glide_date_time' }
const journal: Field = { type: 'journal_input' }
const user: Field = { type: 'reference', reference: 'sys_user' }
const group: Field = { type: 'reference', reference: 'sys_user_group' }
const yes: Field = { type: 'boolean', initial: 'true' }
const no: Field = { type: 'boolean', initial: 'false' }

/** What every table has. */
export const systemFields: Readonly<Record<string, Field>> = {
  sys_id: { type: 'GUID' },
  sys_created_on: time,
  sys_created_by: string,
  sys_updated_on: time,
  sys_updated_by: string,
  sys_mod_count: { type: 'integer', initial: '0' },
  sys_tags: string,
}

const levels = { 1: '1 - High', 2: '2 - Medium', 3: '3 - Low' }
const priorities = { 1: '1 - Critical', 2: '2 - High', 3: '3 - Moderate', 4: '4 - Low', 5: '5 - Planning' }
const states = { 1: 'New', 2: 'In Progress', 3: 'On Hold', 6: 'Resolved', 7: 'Closed', 8: 'Canceled' }

/** The tables that the platform comes with. */
export const tables: Readonly<Record<string, TableShape>> = {
  sys_attachment: {
    display: 'file_name',
    fields: {
      file_name: string,
      table_name: string,
      table_sys_id: string,
      content_type: string,
      size_bytes: integer,
      hash: string,
    },
  },
  incident: {
    display: 'number',
    numberPrefix: 'INC',
    fields: {
      number: string,
      short_description: string,
      description: string,
      state: { ...integer, choices: states, initial: '1' },
      priority: { ...integer, choices: priorities, initial: '5' },
      impact: { ...integer, choices: levels, initial: '3' },
      urgency: { ...integer, choices: levels, initial: '3' },
      active: yes,
      category: { ...string, initial: 'inquiry' },
      caller_id: user,
      assigned_to: user,
      assignment_group: group,
      opened_at: time,
      opened_by: user,
      resolved_at: time,
      closed_at: time,
      close_code: string,
      close_notes: string,
      work_notes: journal,
      comments: journal,
      correlation_id: string,
      correlation_display: string,
      sys_class_name: { ...string, initial: 'incident' },
    },
  },
  sys_user: {
    display: 'name',
    fields: { user_name: string, name: string, email: string, active: yes, locked_out: no },
  },
  sys_user_group: { display: 'name', fields: { name: string, active: yes } },
  sys_dictionary: {
    display: 'element',
    fields: { name: string, element: string, internal_type: string, reference: string, active: yes },
  },
}
