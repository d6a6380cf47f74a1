"""Does `doctor` find every defect that it names, and nothing in data without any?"""
