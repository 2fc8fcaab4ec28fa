// A module that only declares types.
export default {};
