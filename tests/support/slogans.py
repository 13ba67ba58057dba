"""A company that needs no software and two replies, for tests of everything around it."""

COMPANY = """
company: slogans
about: Finds a name and a slogan for a product.
inputs: {task: {about: The product., required: true}}
roles: {writer: {title: Writer}}
phases:
  name: {about: Find a name., assistant: writer, reads: [task], writes: name, opening: "The product: {{ task }}"}
  slogan: {about: Write a slogan., assistant: writer, reads: [name], writes: slogan, opening: "The name: {{ name }}"}
chain:
  - phase: name
  - phase: slogan
  - {tool: value.check, reads: [slogan], writes: test}
success: test.passed
"""
REPLIES = {"name": ["<SOLUTION> Todo"], "slogan": ["<SOLUTION> Get it done"]}
