export const READ = { role: 'read' } as const;
export const WRITE = { role: 'write' } as const;
export const CREATE = { ...WRITE, creates: true } as const;
/** Takes If-Match and If-None-Match. */
export const CONDITIONAL = { ...WRITE, conditional: true } as const;
